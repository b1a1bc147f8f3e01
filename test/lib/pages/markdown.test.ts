import { describe, expect, test } from 'vitest';
import { renderInline, renderMarkdown } from '../../../lib/pages/markdown.ts';

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

test('REF-2 a header of a table without text is a plain cell', () => {
  expect(render('| | a |\n|---|---|\n| b | c |')).toContain('<thead><tr><td></td><th>a</th></tr></thead>');
});

test('REF-2 a link to a file with a page leads to the page', () => {
  const linkOf = (href: string) => (href === 'a.md' ? '/a' : undefined);
  expect(renderMarkdown('[a](a.md) [b](b.md)', { linkOf }).html).toBe('<p><a href="/a">a</a> b</p>\n');
});

test('REF-2 headings are listed with their anchors', () => {
  expect(renderMarkdown('# A `b`\n\n## C').headings).toEqual([
    { id: 'a-b', text: 'A b', depth: 1 },
    { id: 'c', text: 'C', depth: 2 },
  ]);
});

test('REF-1 one line is rendered without a paragraph, and its HTML and unsafe links are text', () => {
  expect(renderInline('`a` <b> [c](javascript:d)')).toBe('<code>a</code> &lt;b&gt; c');
});
