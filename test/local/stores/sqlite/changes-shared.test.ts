import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BalanceChange, LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../../lambdas/core/accounts/low-balance.ts';
import type { NotificationOutcome } from '../../../../lambdas/core/accounts/send-notifications.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import { createForeignChanges, sendLowBalances } from '../../../../local/stores/sqlite/changes.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createLedgerStore, insertAccount } from '../../../../local/stores/sqlite/ledger-store.ts';
import { accountNamed } from '../../../contracts/account-subjects.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

const AT = Date.UTC(2026, 10, 1);
const MINUTE_MS = 60_000;

/** Two processes on one database. */
let db: Database;
let other: Database;
beforeEach(async () => {
  const path = newDatabasePath();
  db = await openTestDatabase({ path });
  other = await openTestDatabase({ path });
});
afterEach(async () => {
  await db.close();
  await other.close();
});

const recordOf = (holdId: string, amountPicos: bigint) =>
  ({ accountId: 'one', holdId, requestId: holdId, outcome: 'settled', amountPicos, at: AT }) as const;

const open = (creditPicos = 0n) => createAccountStore(db).open(accountNamed('one', { creditPicos }));
const hold = (on: Database, holdId: string, amountPicos = 5n) => {
  const times = { expiresAtMs: AT, sweepAtMs: AT, previousHoldId: undefined };
  return createLedgerStore(on).hold({ accountId: 'one', holdId, amountPicos, ...times });
};
const charge = async (on: Database, holdId: string, amountPicos: bigint): Promise<void> => {
  const ledger = createLedgerStore(on);
  await hold(on, holdId);
  await ledger.putRecord(recordOf(holdId, amountPicos));
  await ledger.apply(recordOf(holdId, amountPicos), 5n, 0);
};

test('KEY-3 a write of another process is followed once, with the records of the closed holds', async () => {
  await open(100n);
  await hold(db, 'r.0');
  const foreign = createForeignChanges(db);
  await foreign.start();
  expect(await foreign.take()).toEqual([]);
  const ledger = createLedgerStore(other);
  await hold(other, 's.0');
  await ledger.putRecord(recordOf('r.0', 3n));
  await ledger.apply(recordOf('r.0', 3n), 5n, 0);
  const [change, ...others] = await foreign.take();
  expect(others).toEqual([]);
  expect([...(change?.before?.holds.keys() ?? [])]).toEqual(['r.0']);
  expect(change?.after).toEqual(await ledger.readAccount('one'));
  expect([change?.recordOf('r.0'), change?.recordOf('s.0')]).toEqual([recordOf('r.0', 3n), undefined]);
  expect(await foreign.take()).toEqual([]);
});

test('KEY-3 each read returns the accounts changed since the last one, including new accounts', async () => {
  const foreign = createForeignChanges(db);
  await foreign.start();
  for (const name of ['one', 'two']) await createAccountStore(other).open(accountNamed(name));
  expect((await foreign.take()).map(({ before, after }) => [before, after.id])).toEqual([
    [undefined, 'one'],
    [undefined, 'two'],
  ]);
  await createAccountStore(other).open(accountNamed('three'));
  expect((await foreign.take()).map(({ after }) => after.id)).toEqual(['three']);
});

test('KEY-3 more changes than one read returns are followed by the next reads', async () => {
  const foreign = createForeignChanges(db);
  await foreign.start();
  await other.write(() => {
    for (let account = 0; account < 1_500; account += 1)
      insertAccount(other, { accountId: `account-${account}`, creditPicos: 0n, nowMs: 0 });
  });
  const looks: number[] = [];
  for (let look = 0; look < 3; look += 1) looks.push((await foreign.take()).length);
  expect(looks).toEqual([1_000, 500, 0]);
});

test('KEY-3 a process does not follow its own writes as writes of another process', async () => {
  await open(100n);
  const foreign = createForeignChanges(db);
  await foreign.start();
  const own = await hold(db, 'r.0');
  if (own.kind !== 'held') throw new Error('no hold');
  foreign.remember(own.account);
  await other.write(() => other.sql("INSERT INTO facts (name, value) VALUES ('a', 'b')").run());
  expect(await foreign.take()).toEqual([]);
});

const low: BalanceChange = {
  accountId: 'one',
  chatId: 'one-chat',
  version: 4,
  beforePicos: LOW_BALANCE_THRESHOLD_DEFAULT + 3n,
  afterPicos: LOW_BALANCE_THRESHOLD_DEFAULT,
  thresholdPicos: LOW_BALANCE_THRESHOLD_DEFAULT,
};

/** Sends the notifications that are due and returns them. */
const sendDue = async (on: Database, clock: ManualClock): Promise<readonly BalanceChange[]> => {
  const sent: BalanceChange[] = [];
  await sendLowBalances(on, {
    clock,
    send: async (change) => {
      sent.push(change);
      return { kind: 'done' };
    },
    report: () => undefined,
  });
  return sent;
};

const cross = async (): Promise<void> => {
  await open(LOW_BALANCE_THRESHOLD_DEFAULT + 4n);
  await charge(db, 'r.0', 1n);
  await charge(db, 's.0', 3n);
  await charge(db, 't.0', 1n);
};

test('KEY-3 the charge that takes a balance to its threshold causes one notification', async () => {
  await cross();
  const clock = new ManualClock(AT);
  expect(await sendDue(other, clock)).toEqual([low]);
  await clock.advance(24 * 60 * MINUTE_MS);
  for (const process of [db, other]) expect(await sendDue(process, clock)).toEqual([]);
});

test('KEY-3 a notification that its process does not finish in a minute is sent by another', async () => {
  await cross();
  const clock = new ManualClock(AT);
  const gate = Promise.withResolvers<NotificationOutcome>();
  let tries = 0;
  const sending = sendLowBalances(db, {
    clock,
    send: () => {
      tries += 1;
      return gate.promise;
    },
    report: () => undefined,
  });
  await expect.poll(() => tries).toBe(1);
  await clock.advance(MINUTE_MS - 1);
  expect(await sendDue(other, clock)).toEqual([]);
  await clock.advance(1);
  expect(await sendDue(other, clock)).toEqual([low]);
  gate.resolve({ kind: 'done' });
  await sending;
});

test('KEY-3 a notification during a store failure is reported and sent again', async () => {
  await cross();
  const clock = new ManualClock(AT);
  const reports: string[] = [];
  await sendLowBalances(db, {
    clock,
    send: () => Promise.reject(new StoreError('unavailable', 'down')),
    report: (name, _accountId, reason) => void reports.push(`${name} ${reason}`),
  });
  expect(reports).toEqual(['notice_failed the store: unavailable']);
  await clock.advance(MINUTE_MS);
  expect(await sendDue(db, clock)).toEqual([low]);
});
