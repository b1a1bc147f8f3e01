import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { routes } from '../../lambdas/routes.ts';
import { llmsText } from '../../reference/llms.ts';
import { readSource, repository } from '../architecture/read-imports.ts';
import { linksIn } from '../docs/markdown.ts';

const text = llmsText();

const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const pages = new Set(Object.keys(routes).map((name) => `/api-reference/routes/${kebab(name)}`));

const exists = (link: string): boolean => {
  const [, guide] = /^\/api-reference\/guides\/([\w-]+\.md)$/.exec(link) ?? [];
  if (guide !== undefined) return existsSync(join(repository, 'docs/guides', guide));
  return pages.has(link) || link === '/api-reference/openapi.json';
};

test('REF-6 the committed llms.txt equals its sources', () => {
  expect(readSource('web/api-reference/llms.txt') === text, 'run npm run reference').toBe(true);
});

// https://llmstxt.org: a title, a quoted summary, text without headings, then sections of links.
test('REF-6 llms.txt has a title, a summary, and sections whose lines are links with notes', () => {
  const [head = '', ...sections] = text.split(/^## /m);
  expect(head).toMatch(/^# .+\n\n> [^#]+$/);
  expect(sections.map((section) => section.split('\n')[0])).toEqual(['Guides', 'API', 'Optional']);
  for (const section of sections)
    for (const line of section.trim().split('\n').slice(2)) expect(line).toMatch(/^- \[[^\]]+\]\(\S+\): \S.*\S$/);
});

test('REF-6 every link of llms.txt resolves, and every guide and route has one link', () => {
  const links = linksIn(text);
  expect(links.filter((link) => !exists(link))).toEqual([]);
  expect(links).toEqual([...new Set(links)]);
  expect([...pages].filter((page) => !links.includes(page))).toEqual([]);
  const guides = readSource('docs/README.md').match(/guides\/[\w-]+\.md/g) ?? [];
  expect(links.filter((link) => link.endsWith('.md'))).toHaveLength(guides.length);
});

test('REF-6 links of llms.txt can be absolute', () => {
  const links = linksIn(llmsText('https://gateway.invalid'));
  expect(links.filter((link) => !link.startsWith('https://gateway.invalid/api-reference/'))).toEqual([]);
});
