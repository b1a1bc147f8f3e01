import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WrittenCharge } from '../../../../lambdas/core/ledger/records.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { deliverCharges, endUnusedQueue, queueCharges } from '../../../../local/stores/sqlite/usage-events.ts';
import { chargeOf } from '../../../lambdas/functions/wiring/usage-events-records.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

let path: string;
let db: Database;
let nowMs: number;
beforeEach(async () => {
  path = newDatabasePath();
  db = await openTestDatabase({ path });
  nowMs = 1_000;
});
afterEach(() => db.close());

const charge = (number: number, into: Database = db) => createLedgerStore(into).putRecord(chargeOf(number));
const amounts = (charges: readonly WrittenCharge[]) => charges.map(({ record }) => Number(record?.amountPicos ?? -1n));

/** Delivers once. Fails the charges of these amounts. Returns the result and the amounts of the call. */
const deliver = async (failing: readonly number[] = [], from: Database = db, limit?: number) => {
  const taken: number[] = [];
  const result = await deliverCharges(from, {
    now: () => nowMs,
    ...(limit !== undefined && { limit }),
    deliver: async (charges) => {
      taken.push(...amounts(charges));
      return new Set(charges.filter((one) => amounts([one]).some((amount) => failing.includes(amount))));
    },
  });
  return [result, taken];
};

test('OPS-20 charges since the queue exists are delivered once, in the order of their writes', async () => {
  await charge(1);
  await queueCharges(db, nowMs);
  await queueCharges(db, nowMs);
  for (const number of [3, 2, 4]) expect(await charge(number)).toEqual({ kind: 'written' });
  expect(await deliver()).toEqual(['delivered', [3, 2, 4]]);
  expect(await deliver()).toEqual(['idle', []]);
});

test('OPS-20 a record that exists already is not queued again', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  expect(await charge(1)).toMatchObject({ kind: 'exists' });
  expect(await deliver()).toEqual(['delivered', [1]]);
});

test('OPS-20 only charges whose delivery failed are delivered again', async () => {
  await queueCharges(db, nowMs);
  for (const number of [1, 2, 3]) await charge(number);
  expect(await deliver([2])).toEqual(['failed', [1, 2, 3]]);
  expect(await deliver()).toEqual(['delivered', [2]]);
});

test('OPS-20 a delivery that dies delivers again after its lease, and not earlier', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  const dead = deliverCharges(db, { now: () => nowMs, deliver: () => Promise.reject(new Error('killed')) });
  await expect(dead).rejects.toThrow('killed');
  expect(await deliver()).toEqual(['idle', []]);
  nowMs += 60_000;
  expect(await deliver()).toEqual(['delivered', [1]]);
});

test('OPS-20 two processes do not deliver the same charge at the same time', async () => {
  await queueCharges(db, nowMs);
  const other = await openTestDatabase({ path });
  await charge(1);
  let inside: unknown;
  await deliverCharges(db, {
    now: () => nowMs,
    deliver: async () => {
      await charge(2, other);
      inside = await deliver([], other);
      return new Set();
    },
  });
  expect(inside).toEqual(['delivered', [2]]);
  expect(await deliver()).toEqual(['idle', []]);
  await other.close();
});

test('OPS-20 a slow delivery does not remove a newer charge', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  await deliverCharges(db, {
    now: () => nowMs,
    deliver: async () => {
      nowMs += 60_000;
      await deliver();
      await charge(2);
      return new Set();
    },
  });
  expect(await deliver()).toEqual(['delivered', [2]]);
});

test('OPS-20 a delivery has at most 100 charges', async () => {
  await queueCharges(db, nowMs);
  for (let number = 1; number <= 101; number += 1) await charge(number);
  const [, first] = await deliver();
  expect(first).toHaveLength(100);
  expect(await deliver()).toEqual(['delivered', [101]]);
});

test('OPS-20 an unreadable record is delivered by its ids', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  await db.write(() => db.sql("UPDATE charges SET details = 'not JSON'").run());
  expect(await deliver()).toEqual(['delivered', [-1]]);
});

const DAY_MS = 86_400_000;
const waiting = () => db.sql('SELECT count(*) AS charges FROM usage_events').get();

test('OPS-20 a day after the last delivering process new charges are not queued', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  nowMs += DAY_MS - 1;
  expect(await endUnusedQueue(db, nowMs)).toBe(false);
  await charge(2);
  nowMs += 1;
  expect(await endUnusedQueue(db, nowMs)).toBe(true);
  expect(await endUnusedQueue(db, nowMs)).toBe(false);
  for (let number = 3; number < 9; number += 1) expect(await charge(number)).toEqual({ kind: 'written' });
  expect(waiting()).toEqual({ charges: 2n });
});

test('OPS-20 after the queue was ended, its charges and those of a later start are delivered', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  await endUnusedQueue(db, nowMs + DAY_MS);
  await charge(2);
  await queueCharges(db, nowMs);
  await charge(3);
  expect(await deliver()).toEqual(['delivered', [1, 3]]);
});

test('OPS-20 a delivering process keeps the queue although another one does not deliver', async () => {
  const other = await openTestDatabase({ path });
  await queueCharges(db, nowMs);
  for (let hour = 0; hour < 48; hour += 1) {
    nowMs += 3_600_000;
    await queueCharges(db, nowMs);
    expect(await endUnusedQueue(other, nowMs)).toBe(false);
  }
  await charge(1, other);
  expect(await deliver()).toEqual(['delivered', [1]]);
  await other.close();
});

test('OPS-20 a database that never had a queue has none to end', async () => {
  expect(await endUnusedQueue(db, nowMs)).toBe(false);
  expect(await charge(1)).toEqual({ kind: 'written' });
  expect(db.sql("SELECT name FROM sqlite_schema WHERE name LIKE 'usage_events%'").all()).toEqual([]);
});

/** Insert of every release into the table of charges. */
const asBefore = (into: Database, holdId: string) =>
  into.write(() =>
    into
      .sql(
        `INSERT INTO charges (account_id, hold_id, request_id, outcome, amount, at, details)
         VALUES ('acme', ?, 'r', 'settled', 7, 1, '{}') ON CONFLICT DO NOTHING`,
      )
      .run(holdId),
  );

test('OPS-11, OPS-20 a database of an earlier release gets a queue without its old charges', async () => {
  await asBefore(db, 'r.0');
  await queueCharges(db, nowMs);
  expect(await deliver()).toEqual(['idle', []]);
  await charge(1);
  expect(await deliver()).toEqual(['delivered', [1]]);
});

test('OPS-11, OPS-20 the charges of an earlier release on a newer database are queued', async () => {
  await queueCharges(db, nowMs);
  const earlier = await openTestDatabase({ path });
  await asBefore(earlier, 'r.0');
  await asBefore(earlier, 'r.0');
  await earlier.close();
  expect(await deliver()).toEqual(['delivered', [7]]);
});

test('OPS-20 a charge is delivered only after the disk has it', async () => {
  let isLost = false;
  const slow = await openTestDatabase({
    sync: async (wal) => {
      if (isLost) throw new Error('no disk');
      await wal.datasync();
    },
  });
  await queueCharges(slow, nowMs);
  isLost = true;
  await slow.write(() => {
    slow.sql("INSERT INTO charges VALUES ('acme', 'r.0', 'r', 'settled', 1, 1, '{}')").run();
  });
  // A checkpoint would also make it durable. An open read prevents that.
  const reader = await openTestDatabase({ path: slow.connection.location() ?? '' });
  reader.connection.exec('BEGIN; SELECT count(*) FROM charges');
  const deliveries: unknown[] = [];
  const attempt = deliverCharges(slow, {
    now: () => nowMs,
    deliver: async (charges) => {
      deliveries.push(charges);
      return new Set();
    },
  });
  await expect(attempt).rejects.toThrow();
  expect(deliveries).toEqual([]);
  reader.connection.exec('COMMIT');
  await reader.close();
  await slow.close();
});

test('OPS-20 a charge that fails alone lets the others pass, and is delivered again after a minute', async () => {
  await queueCharges(db, nowMs);
  for (const number of [1, 2, 3]) await charge(number);
  expect(await deliver([1], db, 1)).toEqual(['failed', [1]]);
  expect(await deliver([1])).toEqual(['delivered', [2, 3]]);
  expect(await deliver()).toEqual(['idle', []]);
  nowMs += 60_000;
  expect(await deliver([1], db, 1)).toEqual(['failed', [1]]);
  expect(await deliver()).toEqual(['delivered', [1]]);
});

test('OPS-20 a clock that is set back does not delay a charge', async () => {
  await queueCharges(db, nowMs);
  await charge(1);
  const dead = deliverCharges(db, { now: () => nowMs + 3_600_000, deliver: () => Promise.reject(new Error('killed')) });
  await expect(dead).rejects.toThrow('killed');
  expect(await deliver()).toEqual(['delivered', [1]]);
});
