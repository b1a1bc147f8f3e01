import type { DynamoDBRecord } from 'aws-lambda';
import { expect, test } from 'vitest';
import type { CloudEvent } from '../../../../lambdas/core/event-publisher.ts';
import {
  createUsageEventsHandler,
  usageEventsDependenciesFromEnvironment,
} from '../../../../lambdas/functions/wiring/usage-events-handler.ts';
import { toUsageRow } from '../../../../lambdas/protocols/account/usage-row.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';
import { chargeOf, insertOf, requestOf } from './usage-events-records.ts';

const open = () => {
  const published: CloudEvent[] = [];
  const notices: unknown[] = [];
  const failing = new Set<string>();
  const handler = createUsageEventsHandler({
    source: 'gateway-prod',
    publish: async (events) => {
      published.push(...events);
      const failed = new Set(events.map(({ id }) => id).filter((id) => failing.has(id)));
      return failed.size > 0 ? { failed, reason: 'ThrottlingException' } : { failed };
    },
    reporting: { notice: (name, details) => notices.push([name, details]) },
  });
  const run = async (...Records: readonly DynamoDBRecord[]) => {
    const { batchItemFailures } = await handler({ Records: JSON.parse(JSON.stringify(Records)) });
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  };
  return { published, notices, failing, run, handler };
};

test('OPS-20 each new charge record becomes one event, in the order of the stream', async () => {
  const { published, notices, run } = open();
  const charges = [chargeOf(1), chargeOf(2, { outcome: 'released', amountPicos: 0n, reason: 'expired' }), chargeOf(3)];
  expect(await run(...charges.map((charge, index) => insertOf(index + 1, charge)))).toEqual([]);
  expect(published.map(({ data }) => data)).toEqual(
    charges.map((charge) => ({ account_id: 'acme', ...toUsageRow(charge), provider_cost_usd: null })),
  );
  expect(notices).toEqual([]);
});

test('OPS-20 a record that is delivered again gets the same id', async () => {
  const { published, run } = open();
  await run(insertOf(1, chargeOf(1)));
  await run(insertOf(1, chargeOf(1)));
  expect(published.map(({ id }) => id)).toEqual([`acme/${requestOf(1)}.0`, `acme/${requestOf(1)}.0`]);
});

test('OPS-20 other items, changes of items and abandoned hold ids have no event', async () => {
  const { published, notices, run } = open();
  const record = insertOf(1, chargeOf(1));
  const keyed = (sk: string): DynamoDBRecord => ({
    ...record,
    dynamodb: { ...record.dynamodb, Keys: { pk: { S: 'account#acme' }, sk: { S: sk } } },
  });
  const abandoned = insertOf(5, chargeOf(5, { outcome: 'released', amountPicos: 0n, reason: 'given_up' }));
  const others = [keyed('ACCOUNT'), keyed('CREDIT#1'), { ...record, eventName: 'MODIFY' as const }, abandoned];
  expect(await run(...others)).toEqual([]);
  expect([published, notices]).toEqual([[], []]);
});

test('OPS-20 exactly the records whose events failed are delivered again, and the failure is logged', async () => {
  const { failing, notices, run } = open();
  failing.add(`acme/${requestOf(2)}.0`);
  expect(await run(...[1, 2, 3].map((n) => insertOf(n, chargeOf(n))))).toEqual(['2']);
  expect(notices).toEqual([['usage_events_failed', { failed: '1', reason: 'ThrottlingException' }]]);
});

test('OPS-20 an unreadable charge record is reported as an event and logged by its ids alone', async () => {
  const { published, notices, run } = open();
  const record = insertOf(1, chargeOf(1));
  const broken = { ...record, dynamodb: { ...record.dynamodb, NewImage: { amount: { S: 'secret' } } } };
  expect(await run(broken, insertOf(2, chargeOf(2)))).toEqual([]);
  expect(published.map(({ type, data }) => [type, data])).toEqual([
    ['usage.unreadable.v1', { account_id: 'acme', request_id: requestOf(1) }],
    ['usage.recorded.v1', expect.objectContaining({ id: requestOf(2) })],
  ]);
  expect(notices).toEqual([['usage_event_unreadable', { accountId: 'acme', requestId: requestOf(1) }]]);
  expect(JSON.stringify([published, notices])).not.toContain('secret');
});

test('OPS-20 a record that names no item fails, and the others are published', async () => {
  const { published, notices, run } = open();
  const unnamed: DynamoDBRecord = { eventName: 'INSERT', dynamodb: { SequenceNumber: '1' } };
  expect(await run(unnamed, insertOf(2, chargeOf(2)))).toEqual(['1']);
  expect(published).toHaveLength(1);
  expect(notices).toEqual([['usage_event_unreadable', { sequenceNumber: '1' }]]);
});

test('OPS-20 a record without a sequence number fails the whole run', async () => {
  const { handler } = open();
  await expect(handler({ Records: [{ eventName: 'INSERT' }] })).rejects.toThrow('sequence number');
});

test('OPS-20 the function does not start without a bus', () => {
  expect(() => usageEventsDependenciesFromEnvironment(noTables)).toThrow('USAGE_EVENTS_BUS: missing');
});
