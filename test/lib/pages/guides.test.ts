import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readDescription } from '../../../lib/pages/description.ts';
import { guidePage, linkTo, overviewPage, readGuides, summaryOf, withoutContract } from '../../../lib/pages/guides.ts';
import { textOf } from '../../../lib/pages/html.ts';
import { smallJson } from './small-description.ts';

const folder = mkdtempSync(join(tmpdir(), 'guides-'));
afterAll(() => rmSync(folder, { recursive: true }));
const errors =
  '# Errors\n\nFind an error.\n\n## Codes\n\n| status | code | fix |\n|---|---|---|\n| 404 | `not_found` | Use an *id*. |\n';
for (const [name, text] of Object.entries({
  zebra: '# Zebra\n\nStripes: two\nlines. More.\n\n## One\n\n## Two\n',
  'quick-start': '# Start `here`\n\n[e](errors-and-retries.md#codes) [z](zebra.md) [rules](../behaviour.md)\n',
  'errors-and-retries': errors,
}))
  writeFileSync(join(folder, `${name}.md`), text);

const description = readDescription(smallJson);
const guides = readGuides(folder);
const page = (name: string) => {
  const guide = guides.find((each) => each.name === name);
  if (!guide) throw new Error(`There is no guide ${name}.`);
  return guidePage(description, guides, guide);
};

test('REF-2 known guides come first in a fixed order, and others follow by name', () => {
  expect(guides.map(({ name, title }) => [name, title])).toEqual([
    ['quick-start', 'Start here'],
    ['errors-and-retries', 'Errors'],
    ['zebra', 'Zebra'],
  ]);
  expect(readGuides(join(folder, 'none'))).toEqual([]);
});

test('REF-2 a link between guides leads to the page, and a link to another file is plain text', () => {
  const { html } = page('quick-start').text;
  expect(html).toContain('<a href="/api-reference/guides/errors-and-retries#codes">e</a>');
  expect(html).toContain('<a href="/api-reference/guides/zebra">z</a> rules');
  expect(linkTo(guides)('zebra.md.md')).toBeUndefined();
});

test('REF-2 every code in the table of errors becomes a section with its status, fix and example', () => {
  const { html } = page('errors-and-retries').text;
  expect(html).toContain('<h3 id="not_found">');
  expect(html).not.toContain('<table');
  expect(textOf(html)).toMatch(/404 not_found fix Use an id \..*There is no such talk\./);
});

test('REF-2 a guide has links to its headings and to its Markdown', () => {
  const { contents, text } = page('zebra');
  expect(contents?.html).toContain('href="#one"');
  expect(text.html).toContain('href="/api-reference/guides/zebra.md"');
});

test('REF-1 the overview links every guide, route and error code', () => {
  const { html } = overviewPage(description, guides).text;
  for (const target of [
    '/guides/zebra',
    '/routes/create-talk',
    '/routes/take-update',
    '/guides/errors-and-retries#not_found',
  ])
    expect(html).toContain(`href="/api-reference${target}"`);
  expect(html.indexOf('Operator and bot')).toBeGreaterThan(html.indexOf('Create a talk'));
});

test.for([
  ['# A\n\nOne `two`\nthree. Four.', 'One two three.'],
  ['# A\n\nOne:\n\n- two', 'One.'],
  ['# A\n\n## B\n\nText.', ''],
] as const)('REF-2 the summary of %j is %j', ([markdown, summary]) => {
  expect(summaryOf(markdown)).toBe(summary);
});

test('REF-2 a page of a guide leaves out the reference to the contract, and keeps the other links', () => {
  expect(withoutContract('[A](a.md), contract: KEY-8, MSG\nand GEM in\n[behaviour.md](../behaviour.md)\n')).toBe(
    '[A](a.md)\n',
  );
  for (const guide of readGuides()) expect(guidePage(description, [], guide).text.html).not.toContain('behaviour.md');
});
