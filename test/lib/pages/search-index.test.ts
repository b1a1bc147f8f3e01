import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorRows } from '../../../lambdas/core/errors/error-codes.ts';
import { groupsOf, readDescription } from '../../../lib/pages/description.ts';
import { readGuides } from '../../../lib/pages/guides.ts';
import { searchIndex } from '../../../lib/pages/search-index.ts';
import { referencePath } from '../../support/reference-document.ts';

const description = readDescription(readFileSync(referencePath, 'utf8'));
const guides = readGuides();
const rows = searchIndex(description, guides);
const rowsOf = (kind: string) => rows.filter(([each]) => each === kind);

test('REF-3 the search index has each route with its method, path and fields', () => {
  const operations = groupsOf(description).flatMap(({ sections }) => sections.flatMap((section) => section.operations));
  expect(rowsOf('Route').map(([, , context]) => context)).toEqual(
    operations.map(({ method, path }) => `${method} ${path}`),
  );
  const chat = rows.find(([, , , , url]) => url === '/api-reference/routes/chat-completions');
  expect(chat?.[3].split(' ')).toEqual(expect.arrayContaining(['max_tokens', 'Idempotency-Key']));
});

test('REF-3 the search index has each error code with the name of its status', () => {
  const codes = Object.fromEntries(rowsOf('Error').map(([, code, context]) => [code, context]));
  expect(Object.keys(codes).toSorted()).toEqual(Object.keys(errorRows).toSorted());
  expect(codes.insufficient_balance).toMatch(/^402 Payment Required, /);
});

test('REF-3 the search index has each guide as a page, and its sections with their anchors', () => {
  const pages = rowsOf('Guide').filter(([, , context]) => context === '');
  expect(pages.map(([, title]) => title)).toEqual(guides.map(({ title }) => title));
  for (const [, , context, , url] of rowsOf('Guide')) expect(url.includes('#')).toBe(context !== '');
});
