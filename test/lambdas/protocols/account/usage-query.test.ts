import { decodeTime } from 'ulid';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { readUsageQuery, toCursor } from '../../../../lambdas/protocols/account/usage-query.ts';

const HOLD_ID = '01KAFE0000000000000000000A.0';

const timesOf = (query: Readonly<Record<string, string>>) => {
  const { fromHoldId, beforeHoldId } = readUsageQuery(query).range;
  const time = (id: string | undefined) => id && new Date(decodeTime(id.padEnd(26, '0'))).toISOString();
  return [time(fromHoldId), time(beforeHoldId)];
};

test('BILL-15 without parameters the list has all records, a hundred per page, as JSON', () => {
  const range = { fromHoldId: undefined, beforeHoldId: undefined, limit: 100 };
  expect(readUsageQuery({})).toEqual({ range, format: 'json' });
  expect(readUsageQuery({ from: '', to: '', cursor: '', limit: '', format: '' })).toEqual({ range, format: 'json' });
});

test.each([
  ['2026-11-20', '2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
  ['2026-11-20T08:00:00Z', '2026-11-20T09:30:00.250Z', '2026-11-20T08:00:00.000Z', '2026-11-20T09:30:00.250Z'],
  ['2026-11-20T08:00:00', '2026-11-20T08:01', '2026-11-20T08:00:00.000Z', '2026-11-20T08:01:00.000Z'],
  ['0001-01-01', '9999-12-31', '1970-01-01T00:00:00.000Z', '+010000-01-01T00:00:00.000Z'],
])('BILL-15 a range from %s to %s starts and ends in UTC', (from, to, begins, ends) => {
  expect(timesOf({ from, to })).toEqual([begins, ends]);
});

test('BILL-15 a cursor continues before its hold id, unless the range ends earlier', () => {
  const cursor = toCursor(HOLD_ID);
  expect(readUsageQuery({ cursor, limit: '1000', format: 'csv' })).toEqual({
    range: { fromHoldId: undefined, beforeHoldId: HOLD_ID, limit: 1_000 },
    format: 'csv',
  });
  expect(readUsageQuery({ cursor, to: '9000-01-01' }).range.beforeHoldId).toBe(HOLD_ID);
  expect(readUsageQuery({ cursor, to: '2000-01-01' }).range.beforeHoldId).not.toBe(HOLD_ID);
});

test('BILL-15 a day is the range of that day, and filters select by their own fields', () => {
  expect(timesOf({ day: '2026-11-20' })).toEqual(timesOf({ from: '2026-11-20', to: '2026-11-20' }));
  const query = { model: 'alpha-1', key: '0123456789abcdef', end_user: 'Zo\ud800', outcome: 'charged' };
  const filter = { model: 'alpha-1', keyId: '0123456789abcdef', endUser: 'Zo\ufffd', outcome: 'settled' };
  expect(readUsageQuery(query).range.filter).toEqual(filter);
  expect(readUsageQuery({ outcome: 'released', key: '' }).range.filter).toEqual({ outcome: 'released' });
  expect(readUsageQuery({ day: '', model: '', key: '', end_user: '', outcome: '' }).range.filter).toBeUndefined();
});

test.each<readonly [param: string, query: Readonly<Record<string, string>>]>([
  ...['yesterday', '2026-13-01', '2026-02-30', '2026-11-20T25:00:00Z', '2026-11-20T08:00:00+02:00', '1'].map(
    (from) => ['from', { from }] as const,
  ),
  ['to', { to: '2026-11-20,2026-11-21' }],
  ['to', { from: '2026-11-20T08:00:00Z', to: '2026-11-20T08:00:00Z' }],
  ['to', { from: '2026-11-20', to: '2026-11-19' }],
  ...['0', '1001', '-1', '1.5', '1e2', 'all', ' 5', '00000000000000000010'].map(
    (limit) => ['limit', { limit }] as const,
  ),
  ...['xml', 'JSON', 'json,csv'].map((format) => ['format', { format }] as const),
  ['bom', { bom: '1' }],
  ...['x', HOLD_ID, toCursor('account#other'), toCursor('01KAFE0000000000000000000A'), toCursor(`${HOLD_ID}0`)].map(
    (cursor) => ['cursor', { cursor }] as const,
  ),
  ['cursor', { cursor: `${toCursor(HOLD_ID)}=` }],
  ['cursor', { cursor: toCursor(HOLD_ID.replace('01K', '81K')) }],
  ['Limit', { Limit: '1' }],
  ...['2026-11-31', 'today', '2026-11-20T08:00:00Z'].map((day) => ['day', { day }] as const),
  ['day', { day: '2026-11-20', from: '2026-11-20' }],
  ['day', { day: '2026-11-20', to: '2026-11-21' }],
  ...['0123456789abcde', '0123456789ABCDEF', 'sk-service-x'].map((key) => ['key', { key }] as const),
  ['end_user', { end_user: 'x'.repeat(257) }],
  ...['open', 'settled', 'Charged'].map((outcome) => ['outcome', { outcome }] as const),
])('BILL-15 a wrong %s gets an error that names it: %o', (param, query) => {
  const refused = () => readUsageQuery(query);
  expect(refused).toThrow(GatewayError);
  try {
    refused();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request_error', param });
    expect(error instanceof Error && error.message).toContain(param);
  }
});
