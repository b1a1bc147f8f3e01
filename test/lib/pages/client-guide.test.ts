import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toPage } from '../../../lib/pages/client-guide.ts';
import { renderMarkdown } from '../../../lib/pages/markdown.ts';

const render = (markdown: string): string => renderMarkdown(markdown).html.trim();

describe('REF-2 Markdown', () => {
  test.for([
    ['# Set up: `x`', '<h1 id="set-up-x">Set up: <code>x</code></h1>'],
    ['## A\n\n## A', '<h2 id="a">A</h2>\n<h2 id="a-1">A</h2>'],
    [
      '[a](https://a.example/?x=1&y) [b](#b) [c](/c)',
      '<p><a href="https://a.example/?x=1&amp;y">a</a> <a href="#b">b</a> <a href="/c">c</a></p>',
    ],
    ['[rules](../behaviour.md#gen-16) and [x](javascript:alert)', '<p>rules and x</p>'],
    ['<!-- generated\nby a program -->\n\ntext', '<p>text</p>'],
    ['a <script>b</script>', '<p>a &lt;script&gt;b&lt;/script&gt;</p>'],
    ['<script>\nb\n</script>', '&lt;script&gt;\nb\n&lt;/script&gt;'],
  ] as const)('REF-2 %j is rendered', ([markdown, html]) => {
    expect(render(markdown)).toBe(html);
  });

  test('REF-2 a wide table scrolls in its own box', () => {
    expect(render('| a |\n|---|\n| b |')).toMatch(/^<div class="table" tabindex="0"><table>.*<\/table><\/div>$/s);
  });
});

test('REF-2 the guide is a page with a title, its own style sheet and no script', () => {
  const source = join(import.meta.dirname, '../../../docs/guides/clients.md');
  const page = toPage(existsSync(source) ? readFileSync(source, 'utf8') : '# Clients\n\ntext');
  expect(page).toMatch(/<title>Model gateway: [^<]+<\/title>/);
  expect(page).toContain('href="/api-reference/clients.css"');
  expect(page.match(/<h1/g)).toHaveLength(1);
  expect(page).not.toMatch(/<script|\son\w+=|style=/);
});
