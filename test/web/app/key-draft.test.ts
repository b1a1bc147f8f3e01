import { expect, test } from 'vitest';
import type { ApiKey } from '../../../web/app/api-shapes.ts';
import { changeOf, draftOf, emptyDraft } from '../../../web/app/key-draft.ts';

const key: ApiKey = {
  id: 'key-w',
  name: 'Web site',
  masked: 'sk-service-EfGh…stuv',
  first: false,
  last_used_at: null,
  expires_at: '2027-01-31T12:00:00.000Z',
  limit_usd: '25',
  limit_period: 'month',
  limit_resets_at: null,
  spent_usd: '3.5',
  held_usd: '1.5',
  models: ['gpt-5.4-mini', 'claude-haiku-4-5'],
  requests_per_second: 2,
  rights: [],
  version: 3,
};
const draft = draftOf(key);

test('KEY-4 a draft of a key without a change sends nothing', () => {
  expect(changeOf(draft, draft)).toEqual({});
});

test('KEY-4 a new key has only what the user has typed', () => {
  expect(changeOf(emptyDraft, { ...emptyDraft, name: ' Shop ' })).toEqual({ name: 'Shop' });
  expect(changeOf(emptyDraft, { ...emptyDraft, name: 'Shop', limit: '2,5', period: 'day', rate: '0,5' })).toEqual({
    name: 'Shop',
    limit_usd: '2.5',
    limit_period: 'day',
    requests_per_second: 0.5,
  });
});

test('KEY-4 an emptied field removes its restriction', () => {
  const emptied = { ...draft, limit: '', expires: '', models: ' ', rate: '' };
  expect(changeOf(draft, emptied)).toEqual({
    limit_usd: null,
    expires_at: null,
    models: null,
    requests_per_second: null,
  });
});

test('KEY-4 another period of a cap is sent with its limit, and an expiry in UTC', () => {
  expect(changeOf(draft, { ...draft, period: 'day' })).toEqual({ limit_usd: '25', limit_period: 'day' });
  const moved = draftOf({ ...key, expires_at: '2027-02-28T12:30:00.000Z' });
  expect(changeOf(draft, { ...draft, expires: moved.expires })).toEqual({ expires_at: '2027-02-28T12:30:00.000Z' });
  expect(changeOf(draft, { ...draft, manage: true })).toEqual({ rights: ['manage'] });
});

test.for([
  ['name', { name: ' ' }],
  ['limit_usd', { limit: 'many' }],
  ['requests_per_second', { rate: 'fast' }],
  ['expires_at', { expires: 'soon' }],
] as const)('KEY-4 a %s that cannot be read is named, and nothing is sent', ([field, typed]) => {
  expect(changeOf(draft, { ...draft, ...typed })).toBe(field);
});
