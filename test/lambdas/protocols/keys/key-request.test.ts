import { expect, test } from 'vitest';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { readKeyChange, readNewKey, readVersion } from '../../../../lambdas/protocols/keys/key-request.ts';

const paramOf = (read: () => unknown): unknown => {
  try {
    read();
  } catch (error) {
    return (error as { readonly param?: unknown }).param;
  }
  return 'accepted';
};

test('KEY-8 a body is read with its units, and null removes a restriction', () => {
  expect(
    readNewKey({
      ...{ name: '  Web site ✓ ', limit_usd: '2.5', limit_period: 'month', rights: ['manage'] },
      ...{ expires_at: '2026-12-31T01:00:00+01:00', models: ['a'], requests_per_second: 2.5 },
    }),
  ).toEqual({
    ...{ name: 'Web site ✓', limitPicos: (5n * PICOS_PER_USD) / 2n, limitPeriod: 'month', manage: true },
    ...{ expiresAtMs: Date.UTC(2026, 11, 31), models: ['a'], rate: 2.5 },
  });
  expect(readKeyChange({ limit_usd: null, models: null, rights: [] })).toMatchObject({
    ...{ name: undefined, limitPicos: null, limitPeriod: undefined, models: null, manage: false },
  });
});

test.each([
  ['name', {}],
  ['name', { name: '' }],
  ['name', { name: '   ' }],
  ['name', { name: 5 }],
  ['name', { name: null }],
  ['name', { name: 'x'.repeat(65) }],
  ['name', { name: 'a\u0000b' }],
  ['limit_usd', { name: 'A', limit_usd: 5 }],
  ['limit_usd', { name: 'A', limit_usd: '0' }],
  ['limit_usd', { name: 'A', limit_usd: '-1' }],
  ['limit_usd', { name: 'A', limit_usd: '1e3' }],
  ['limit_usd', { name: 'A', limit_usd: '1000000.1' }],
  ['limit_period', { name: 'A', limit_usd: '1', limit_period: 'week' }],
  ['expires_at', { name: 'A', expires_at: 'tomorrow' }],
  ['expires_at', { name: 'A', expires_at: '2026-13-01T00:00:00Z' }],
  ['expires_at', { name: 'A', expires_at: 1_900_000_000 }],
  ['models', { name: 'A', models: [] }],
  ['models', { name: 'A', models: 'gpt-5.4' }],
  ['models', { name: 'A', models: Array(51).fill('a') }],
  ['models[0]', { name: 'A', models: [5] }],
  ['requests_per_second', { name: 'A', requests_per_second: '2' }],
  ['requests_per_second', { name: 'A', requests_per_second: 0 }],
  ['requests_per_second', { name: 'A', requests_per_second: 0.25 }],
  ['rights', { name: 'A', rights: 'manage' }],
  ['rights', { name: 'A', rights: null }],
  ['rights[0]', { name: 'A', rights: ['admin'] }],
  ['colour', { name: 'A', colour: 'red' }],
] as const)('KEY-8 a wrong %s in %j is 400', (param, body) => {
  expect(paramOf(() => readNewKey(body))).toBe(param);
});

test('KEY-8 a change without a field is 400', () => {
  expect(paramOf(() => readKeyChange({}))).toBe('name');
});

test('KEY-8 If-Match is an ETag, also a weak one, or any', () => {
  expect([readVersion({}), readVersion({ 'if-match': '*' })]).toEqual([undefined, undefined]);
  expect([readVersion({ 'if-match': '"3"' }), readVersion({ 'if-match': 'W/"12"' })]).toEqual([3, 12]);
  for (const sent of ['3', '', '"a"', '"1", "2"', `"${'1'.repeat(16)}"`])
    expect(paramOf(() => readVersion({ 'if-match': sent }))).toBe('if-match');
});
