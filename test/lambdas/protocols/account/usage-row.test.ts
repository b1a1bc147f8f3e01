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
  endpoint: '/v1/responses',
  keyId: '0123456789abcdef',
  provider: 'openai',
  firstByteMs: 420,
  totalMs: 1_500,
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
    implausible: false,
    cut_at_stop: false,
    end_user: 'Zoë',
    ignored: ['metadata', 'tools[].x'],
    uncollected_usd: null,
    endpoint: '/v1/responses',
    key_id: '0123456789abcdef',
    provider: 'openai',
    first_byte_ms: 420,
    total_ms: 1_500,
  });
});

test('BILL-10, BILL-15 a charge of 0 for missing usage shows the reason', () => {
  const row = toUsageRow({ ...settled, amountPicos: 0n, usage: {}, reason: 'usage_missing' });
  expect(row).toMatchObject({ outcome: 'charged', reason: 'usage_missing', cost_usd: '0' });
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
    implausible: false,
    cut_at_stop: false,
    end_user: null,
    ignored: [],
    uncollected_usd: null,
    endpoint: null,
    key_id: null,
    provider: null,
    first_byte_ms: null,
    total_ms: null,
  });
});

test('BILL-7 CHAT-17 marks of a charge are in the last columns of CSV', () => {
  const row = toUsageRow({ ...settled, implausible: true, cutAtStop: true });
  const open = toOpenRow(requestId, { amountPicos: 1n, expiresAtMs: 0 });
  expect([row, open].map(({ implausible, cut_at_stop }) => [implausible, cut_at_stop])).toEqual([
    [true, true],
    [false, false],
  ]);
  const [header = '', line = ''] = toCsv([row]).split('\r\n');
  expect(header.split(',').slice(-2)).toEqual(['implausible', 'cut_at_stop']);
  expect(line.split(',').slice(-2)).toEqual(['true', 'true']);
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

/** Returns the cells of the first row by column. A quoted cell may contain a comma, and no cell a line break. */
const cellsOf = (csv: string): Readonly<Record<string, string>> => {
  const [names = [], cells = []] = csv
    .split('\r\n')
    .map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = '']) => cell));
  return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
};

test('BILL-15 CSV has a header line, a line per request, and the same columns in every part', () => {
  const csv = toCsv([toUsageRow(settled), toUsageRow(released)]);
  const [header = '', ...lines] = csv.split('\r\n');
  expect([toCsv([]), lines.length, lines.at(-1)]).toEqual([`${header}\r\n`, 3, '']);
  expect(header).toMatch(/^id,created_at,outcome,.*,usage_input,.*,price_input_usd,/);
  const columns = (line: string) => line.replace(/"[^"]*"/g, '').split(',').length;
  expect(lines.slice(0, 2).map(columns)).toEqual([columns(header), columns(header)]);
});

test('BILL-15 CSV has each count and each price in its own column, and no JSON', () => {
  const csv = toCsv([toUsageRow(settled)]);
  expect(csv).not.toMatch(/[{}]/);
  expect(cellsOf(csv)).toMatchObject({
    cost_usd: '1.23',
    ignored: '"metadata,tools[].x"',
    endpoint: '/v1/responses',
    key_id: '0123456789abcdef',
    first_byte_ms: '420',
    total_ms: '1500',
    usage_cache_read: '2',
    usage_cache_write_1h: '0',
    usage_input: '10',
    usage_output: '3',
    usage_second: '',
    price_input_usd: '0.000008',
    price_cache_read_usd: '0.000008',
    price_cache_write_1h_usd: '0',
    price_second_usd: '',
  });
  const other = cellsOf(toCsv([toUsageRow({ ...released, uncollectedPicos: 1_500_000_000n })]));
  expect(other).toMatchObject({
    outcome: 'released',
    cost_usd: '0',
    key_id: '',
    total_ms: '',
    uncollected_usd: '0.0015',
  });
});

test('BILL-15 an end user that looks like a formula is text', () => {
  const csv = toCsv([toUsageRow({ ...settled, endUser: '=1+1', ignored: [] })]);
  expect(csv).toContain(",true,'=1+1,,,/v1/responses,");
});
