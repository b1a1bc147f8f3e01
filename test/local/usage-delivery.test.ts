import { afterEach, expect, test } from 'vitest';
import type { EventPublisher } from '../../lambdas/core/event-publisher.ts';
import { createLedgerStore } from '../../local/stores/sqlite/ledger-store.ts';
import { endpointReporting } from '../../local/usage-delivery.ts';
import { followQueue } from '../../local/usage-queue.ts';
import { chargeOf } from '../lambdas/functions/wiring/usage-events-records.ts';
import { openTestDatabase } from '../support/sqlite.ts';
import { createReceiver, idOf } from './usage-deliveries.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

test('OPS-20 charges wait in the embedded store while the receiver is down or no gateway runs', async () => {
  const db = await openTestDatabase();
  const ledger = createLedgerStore(db);
  const { state, options } = createReceiver();
  const first = await followQueue(db, options);
  state.isDown = true;
  await ledger.putRecord(chargeOf(1));
  await expect.poll(() => state.calls).toBeGreaterThan(2);
  expect(state.notices).toEqual(['usage_events_failed billing.example.com down']);
  await first();
  await ledger.putRecord(chargeOf(2));
  state.isDown = false;
  endings.push(db.close.bind(db), await followQueue(db, options));
  await expect.poll(() => state.ids).toEqual([idOf(1), idOf(2)]);
  expect(state.failures).toEqual([]);
});

test('OPS-20 a receiver that rejects large batches and one event gets all others', async () => {
  const db = await openTestDatabase();
  const ledger = createLedgerStore(db);
  const { options } = createReceiver();
  const ids: string[] = [];
  const publish: EventPublisher = async (events) => {
    const isRejected = events.length > 10 || events.some(({ id }) => id === idOf(1));
    if (isRejected) return { failed: new Set(events.map(({ id }) => id)), reason: 'the endpoint returned 413' };
    ids.push(...events.map(({ id }) => id));
    return { failed: new Set() };
  };
  const numbers = Array.from({ length: 40 }, (_, index) => index + 1);
  endings.push(db.close.bind(db), await followQueue(db, { ...options, publisherFor: () => publish }));
  for (const number of numbers) await ledger.putRecord(chargeOf(number));
  await expect.poll(() => ids.length).toBe(39);
  expect(ids.toSorted()).toEqual(numbers.slice(1).map(idOf).toSorted());
});

test('OPS-20 abandoned hold ids leave the queue without an event', async () => {
  const db = await openTestDatabase();
  const { state, options } = createReceiver();
  endings.push(db.close.bind(db), await followQueue(db, options));
  const ledger = createLedgerStore(db);
  await ledger.putRecord(chargeOf(1, { outcome: 'released', amountPicos: 0n, reason: 'given_up' }));
  await ledger.putRecord(chargeOf(2));
  await expect.poll(() => state.ids).toEqual([idOf(2)]);
  await expect.poll(() => db.sql('SELECT count(*) AS waiting FROM usage_events').get()).toEqual({ waiting: 0n });
});

test('OPS-20 a store that fails is reported once, and the delivery goes on', async () => {
  const db = await openTestDatabase();
  const { state, options } = createReceiver();
  endings.push(db.close.bind(db), await followQueue(db, options));
  db.connection.exec('ALTER TABLE usage_events RENAME TO hidden');
  await expect.poll(() => state.failures.length).toBe(1);
  db.connection.exec('ALTER TABLE hidden RENAME TO usage_events');
  await createLedgerStore(db).putRecord(chargeOf(1));
  await expect.poll(() => state.ids).toEqual([idOf(1)]);
  expect(state.failures).toEqual([expect.stringContaining('usage events cannot be read from the store')]);
});

test('OPS-20 each reason of failed deliveries is reported once in five minutes, with the endpoint', () => {
  let nowMs = 0;
  const notices: unknown[] = [];
  const reporting = { notice: (...notice: unknown[]) => notices.push(notice) };
  const { notice } = endpointReporting({ reporting, endpoint: 'billing.example.com:9900', now: () => nowMs });
  const report = (reason: string) => notice('usage_events_failed', { failed: '1', reason });
  const reported = (reason: string) => [
    'usage_events_failed',
    { failed: '1', reason, endpoint: 'billing.example.com:9900' },
  ];
  for (const reason of ['down', 'down', 'late', 'down', 'late']) report(reason);
  nowMs = 299_999;
  report('down');
  expect(notices).toEqual([reported('down'), reported('late')]);
  nowMs = 300_000;
  report('down');
  report('down');
  expect(notices.slice(2)).toEqual([reported('down')]);
});

test('OPS-20 other notices of a delivery are never dropped or changed', () => {
  const notices: unknown[] = [];
  const reporting = { notice: (...notice: unknown[]) => notices.push(notice) };
  const { notice } = endpointReporting({ reporting, endpoint: 'billing.example.com', now: () => 0 });
  for (let count = 0; count < 2; count++) notice('usage_event_unreadable', { requestId: 'r' });
  expect(notices).toEqual(Array.from({ length: 2 }, () => ['usage_event_unreadable', { requestId: 'r' }]));
});
