import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readDescription } from '../../../lib/pages/description.ts';
import { readGuides } from '../../../lib/pages/guides.ts';
import { searchIndex } from '../../../lib/pages/search-index.ts';
import { findRows, queryWords } from '../../../web/api-reference/rank.ts';
import { referencePath } from '../../support/reference-document.ts';

const row = (kind: string, title: string, context = '', text = '') => [kind, title, context, text, title] as const;

const rows = [
  row('Guide', 'Billing', 'Money', 'A video costs money.'),
  row('Guide', 'Videos'),
  row('Route', 'Get one', 'GET /v1/videos/{id}'),
  row('Route', 'Create a video'),
  row('Route', 'Chat', '', 'Text only.'),
];
const titles = (query: string): readonly string[] => findRows(rows, query).map(([, title]) => title);

test('REF-3 search prefers the page of a guide, then the title, the path and the text', () => {
  expect(titles('video')).toEqual(['Videos', 'Create a video', 'Get one', 'Billing']);
});

test('REF-3 a row with all words comes first, and a row with some of them follows', () => {
  expect(titles('CREATE video')[0]).toBe('Create a video');
  expect(titles('money nothing')).toEqual(['Billing']);
  expect(titles('nothing')).toEqual([]);
  expect(titles('  ')).toEqual([]);
});

test('REF-3 stop words of a query do not count, unless it has no other words', () => {
  expect(queryWords('How to handle a 402?')).toEqual(['handle', '402']);
  expect(queryWords('how to')).toEqual(['how', 'to']);
});

test('REF-3 a whole word counts more than the start of another, and that more than a part', () => {
  const found = findRows([row('Route', 'Escaping'), row('Route', 'Capabilities'), row('Route', 'A cap')], 'cap');
  expect(found.map(([, title]) => title)).toEqual(['A cap', 'Capabilities', 'Escaping']);
});

test('REF-3 search shows at most twenty results', () => {
  const many = Array.from({ length: 50 }, () => row('Guide', 'Keys'));
  expect(findRows(many, 'keys')).toHaveLength(20);
});

const index = searchIndex(readDescription(readFileSync(referencePath, 'utf8')), readGuides());

test.each([
  ['402', '/api-reference/guides/errors-and-retries#insufficient_balance'],
  ['handle a 402', '/api-reference/guides/errors-and-retries#insufficient_balance'],
  ['payment required', '/api-reference/guides/errors-and-retries#insufficient_balance'],
  ['too many requests', '/api-reference/guides/errors-and-retries#rate_limit_exceeded'],
  ['stream', '/api-reference/guides/chat-and-streaming'],
  ['how to stream', '/api-reference/guides/chat-and-streaming'],
  ['call tools', '/api-reference/guides/tools'],
  ['cap', '/api-reference/guides/keys#effects-of-a-cap'],
  ['fetch the file of a vid', '/api-reference/routes/get-video-content'],
  ['create a chat completion', '/api-reference/routes/chat-completions'],
  ['/v1/messages', '/api-reference/routes/messages'],
  ['get /v1/models', '/api-reference/routes/list-models'],
  ['webhook signature', '/api-reference/guides/webhooks#check-the-signature'],
])('REF-3 the query "%s" finds %s first', (query, url) => {
  expect(findRows(index, query)[0]?.[4]).toBe(url);
});
