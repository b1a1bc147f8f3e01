import { expect, test } from 'vitest';
import { codeBlock, highlight } from '../../../lib/pages/highlight.ts';
import { textOf } from '../../../lib/pages/html.ts';

test.for([
  ['json', '{"a": "b", "c": -1.5, "d": null}', ['key', 'string', 'key', 'number', 'key', 'keyword']],
  ['javascript', "const a = 'x'; // note", ['keyword', 'string', 'comment']],
  ['python', 'import os # note\nprint("x", 2)', ['keyword', 'comment', 'keyword', 'string', 'number']],
  ['shell', "curl -H 'a: b' # note", ['keyword', 'key', 'string', 'comment']],
  ['text', 'const a = 1', []],
] as const)('REF-1 code in %s has the expected tokens', ([language, code, kinds]) => {
  const html = highlight(code, language);
  expect([...html.matchAll(/class="t-(\w+)"/g)].map(([, kind]) => kind)).toEqual(kinds);
});

test('REF-1 code is escaped and stays complete', () => {
  const code = `curl "$URL/a?b=<c>" \\\n  -d '{"d": 1}' # e&f`;
  const html = highlight(code, 'sh');
  expect(html).not.toContain('<c>');
  expect(html.replaceAll(/<\/?span[^>]*>/g, '')).toBe(
    code.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  );
});

test('REF-1 a block of code can be focused and names its language', () => {
  expect(codeBlock('x\n\n', 'py')).toContain('<pre tabindex="0"><code>x</code></pre>');
  expect(textOf(codeBlock('x', 'py'))).toBe('Python x');
  expect(textOf(codeBlock('x', 'sh', 'POST /v1'))).toBe('POST /v1 x');
});
