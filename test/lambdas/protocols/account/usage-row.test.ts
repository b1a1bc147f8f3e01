import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { toCsv, toOpenRow, toUsageRow } from '../../../../lambdas/protocols/account/usage-row.ts';

const at = Date.UTC(2026, 10, 20, 8, 30, 0, 123);
const requestId = ulid(at);
const ids = { accountId: 'a', holdId: `${requestId}.0`, requestId };

const settled = {
  ...ids,
  outcome: 'settled',
  amountPicos: 1_230_000_000_000n,
  at: at + 5_000,
  model: 'alpha-1',
  usage: { input: 10, cacheRead: 2, cacheWrite1h: 0, output: 3 },
  prices: { input: 8_000_000n, output: 1n, cacheWrite1h: 0n },
  overage: true,
  endUser: 'Zoë',
  ignored: ['metadata', 'tools[].x'],
} as const;
const released = { ...ids, outcome: 'released', amountPicos: 0n, at, reason: 'upstream_error' } as const;

test('BILL-15 a charged request shows its exact usage, prices and cost', () => {
  expect(toUsageRow(settled)).toEqual({
    id: requestId,
    object: 'usage',
    created_at: '2026-11-20T08:30:00.123Z',
    outcome: 'charged',
    reason: null,
    model: 'alpha-1',
    usage: { input: 10, cache_read: 2, cache_write_1h: 0, output: 3 },
    prices_usd: { input: '0.000008', cache_read: '0.000008', cache_write_1h: '0', output: '0.000000000001' },
    cost_usd: '1.23',
    overage: true,
    end_user: 'Zoë',
    ignored: ['metadata', 'tools[].x'],
    uncollected_usd: null,
  });
});

test('BILL-15 a released request costs nothing and shows the reason', () => {
  expect(toUsageRow(released)).toMatchObject({
    outcome: 'released',
    reason: 'upstream_error',
    model: null,
    usage: null,
    prices_usd: null,
    cost_usd: '0',
    overage: false,
    end_user: null,
    ignored: [],
    uncollected_usd: null,
  });
});

test('BILL-21 a released request shows what it cost the gateway', () => {
  expect(toUsageRow({ ...released, uncollectedPicos: 1_500_000_000n })).toMatchObject({
    cost_usd: '0',
    uncollected_usd: '0.0015',
  });
});

test('BILL-15 an open request shows its hold and no cost yet', () => {
  const row = toOpenRow(requestId, { amountPicos: 20_000_000_000n, expiresAtMs: 0 });
  expect(row).toMatchObject({ id: requestId, outcome: 'open', cost_usd: null, held_usd: '0.02', reason: null });
});

const NAMES = 'id,created_at,outcome,reason,model,usage,prices_usd,cost_usd,overage,end_user,ignored,uncollected_usd';

test('BILL-15 CSV has a header line, and a line per request', () => {
  expect(toCsv([])).toBe(`${NAMES}\r\n`);
  const one = `${requestId},2026-11-20T08:30:00.123Z,charged,,alpha-1,`;
  const usage = '"{""cache_read"":2,""cache_write_1h"":0,""input"":10,""output"":3}",';
  const prices =
    '"{""cache_read"":""0.000008"",""cache_write_1h"":""0"",""input"":""0.000008"",""output"":""0.000000000001""}",';
  const other = `${requestId},2026-11-20T08:30:00.123Z,released,upstream_error,,,,0,false,,,0.0015`;
  expect(toCsv([toUsageRow(settled), toUsageRow({ ...released, uncollectedPicos: 1_500_000_000n })])).toBe(
    `${NAMES}\r\n${one}${usage}${prices}1.23,true,Zoë,"metadata,tools[].x",\r\n${other}\r\n`,
  );
});

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['a,b', '"a,b"'],
  ['a"b', '"a""b"'],
  ['a\nb', '"a\nb"'],
  ['a=b', 'a=b'],
])('BILL-15 an end user %o is not a formula and stays in its cell', (endUser, cell) => {
  const csv = toCsv([toUsageRow({ ...settled, endUser, ignored: [] })]);
  expect(csv.endsWith(`,true,${cell},,\r\n`)).toBe(true);
});
