import { expect, test } from 'vitest';
import { findRows } from '../../../web/api-reference/search.ts';

const row = (kind: string, title: string, context = '', text = '') => [kind, title, context, text, title] as const;

const rows = [
  row('Guide', 'Billing', '', 'A video costs money.'),
  row('Guide', 'Videos'),
  row('Route', 'Get one', 'GET /v1/videos/{id}'),
  row('Route', 'Create a video'),
  row('Route', 'Chat', '', 'Text only.'),
];
const titles = (query: string): readonly string[] => findRows(rows, query).map(([, title]) => title);

test('REF-3 search prefers the start of a title, then the title, the path and the text', () => {
  expect(titles('video')).toEqual(['Videos', 'Create a video', 'Get one', 'Billing']);
});

test('REF-3 every word of a query must be found, in any case', () => {
  expect(titles('CREATE video')).toEqual(['Create a video']);
  expect(titles('video nothing')).toEqual([]);
  expect(titles('  ')).toEqual([]);
});

test('REF-3 search shows at most twenty results', () => {
  expect(
    findRows(
      Array.from({ length: 50 }, () => row('Guide', 'Keys')),
      'keys',
    ),
  ).toHaveLength(20);
});
