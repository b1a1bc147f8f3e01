import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { toUsageEvent } from '../../../../lambdas/protocols/account/usage-event.ts';
import { toUsageRow } from '../../../../lambdas/protocols/account/usage-row.ts';
import { usageEvent } from '../../../../reference/usage-event-schema.ts';

const REQUEST = '01KXAMP1E00000000000000000';
const record: ChargeRecord = {
  accountId: 'acme',
  holdId: `${REQUEST}.1`,
  requestId: REQUEST,
  outcome: 'settled',
  amountPicos: 1_234_567n,
  at: Date.UTC(2026, 10, 20, 12),
  model: 'gpt-5.4',
  usage: { input: 3, output: 4 },
  prices: { input: 1n, output: 2n },
  keyId: '0123456789abcdef',
  endpoint: '/v1/chat/completions',
  provider: 'openai',
  endUser: 'user-7',
  firstByteMs: 12,
  totalMs: 34,
  costPicos: 1_000_000n,
  answer: 'hash-of-a-stored-response',
};

const eventOf = (changed: Partial<ChargeRecord> = {}) => {
  const { accountId, holdId } = record;
  return toUsageEvent({ accountId, holdId, record: { ...record, ...changed } }, 'gateway-prod');
};

test('OPS-20 an event has the receipt as GET /api/usage shows it, the account and the cost', () => {
  expect(eventOf()).toEqual({
    specversion: '1.0',
    id: `acme/${REQUEST}.1`,
    source: 'gateway-prod',
    type: 'usage.recorded.v1',
    subject: REQUEST,
    time: '2026-11-20T12:00:00.000Z',
    datacontenttype: 'application/json',
    data: { ...toUsageRow(record), account_id: 'acme', provider_cost_usd: '0.000001' },
  });
});

test('OPS-20 an event has no field of the record that its receipt lacks', () => {
  expect(JSON.stringify(eventOf())).not.toContain('hash-of-a-stored-response');
});

test.each<[string, Partial<ChargeRecord>]>([
  ['a charge', {}],
  ['a charge of an earlier release', { keyId: undefined, provider: undefined, costPicos: undefined } as never],
  ['a release with an uncollected amount', { outcome: 'released', amountPicos: 0n, uncollectedPicos: 5n }],
  ['a release without a call', { outcome: 'released', amountPicos: 0n, reason: 'expired', usage: undefined } as never],
  ['a takeover', { outcome: 'released', amountPicos: 0n, reason: 'taken_over' }],
  ['an outcome of a newer release', { newerOutcome: 'split' }],
])('OPS-20 the event of %s matches the published schema', (_, changed) => {
  expect(usageEvent.safeParse(JSON.parse(JSON.stringify(eventOf(changed)))).error).toBeUndefined();
});

test('OPS-20 the id depends on the record alone', () => {
  expect(eventOf()?.id).toBe(eventOf()?.id);
  const ids = [eventOf()?.id, toUsageEvent({ accountId: 'acme', holdId: `${REQUEST}.0`, record }, 's')?.id];
  expect(new Set(ids).size).toBe(2);
});

test('OPS-20 an id that was closed while its request placed a hold has no event', () => {
  expect(eventOf({ outcome: 'released', amountPicos: 0n, reason: 'given_up' })).toBeUndefined();
});

test.each<[string, ChargeRecord | undefined]>([
  ['a record that the store cannot read', undefined],
  ['a record with an impossible time', { ...record, at: Number.NaN }],
  ['a record with an impossible request id', { ...record, requestId: 'not an id' }],
])('OPS-20 the event of %s names the request and matches the schema', (_, found) => {
  const event = toUsageEvent({ accountId: 'acme', holdId: record.holdId, record: found }, 'gateway-prod');
  expect(event).toEqual({
    specversion: '1.0',
    id: `acme/${REQUEST}.1`,
    source: 'gateway-prod',
    type: 'usage.unreadable.v1',
    subject: REQUEST,
    datacontenttype: 'application/json',
    data: { account_id: 'acme', request_id: REQUEST },
  });
  expect(usageEvent.safeParse(event).error).toBeUndefined();
});
