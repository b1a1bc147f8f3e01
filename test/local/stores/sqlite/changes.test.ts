import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../../lambdas/core/accounts/low-balance.ts';
import type { NotificationOutcome } from '../../../../lambdas/core/accounts/send-notifications.ts';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import { forgetLowBalances, sendLowBalances } from '../../../../local/stores/sqlite/changes.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { accountNamed } from '../../../contracts/account-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

const NOW = Date.UTC(2026, 10, 1);
const USD = 1_000_000_000_000n;
const times = { expiresAtMs: NOW, sweepAtMs: NOW, previousHoldId: undefined };
const record = {
  accountId: 'one',
  holdId: 'r.0',
  requestId: 'r',
  outcome: 'settled',
  amountPicos: USD,
  at: NOW,
} as const;

let db: Database;
let nowMs: number;
let sentAtMs: number[];
let reports: string[];

beforeEach(async () => {
  db = await openTestDatabase();
  [nowMs, sentAtMs, reports] = [NOW, [], []];
  await createAccountStore(db).open(accountNamed('one', { creditPicos: LOW_BALANCE_THRESHOLD_DEFAULT + USD }));
  const ledger = createLedgerStore(db);
  await ledger.hold({ accountId: 'one', holdId: 'r.0', amountPicos: USD, ...times });
  await ledger.apply(record, USD, 0);
});
afterEach(() => db.close());

/** Sends the notifications that are due, and returns how many it tried. */
const send = (outcome: NotificationOutcome) =>
  sendLowBalances(db, {
    clock: { now: () => nowMs },
    send: async ({ accountId }) => {
      expect(accountId).toBe('one');
      sentAtMs.push(nowMs);
      return outcome;
    },
    report: (name) => reports.push(name),
  });

test('KEY-3 a notification that fails is tried 20 times with growing delays, then dropped', async () => {
  for (let seconds = 0; seconds < 7_200; seconds += 1) {
    nowMs = NOW + seconds * 1_000;
    await send({ kind: 'failed', reason: 'busy' });
  }
  const waits = sentAtMs.slice(1).map((at, index) => (at - (sentAtMs[index] ?? 0)) / 1_000);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, ...Array.from({ length: 10 }, () => 300)]);
  expect(reports).toEqual(Array.from({ length: 20 }, () => 'notice_failed'));
});

test.each<readonly [NotificationOutcome, readonly string[]]>([
  [{ kind: 'done' }, []],
  [{ kind: 'refused', reason: 'gone' }, ['notice_refused']],
])('KEY-3 a notification is not sent again after %o', async (outcome, reported) => {
  expect([await send(outcome), await send(outcome)]).toEqual([1, 0]);
  expect(reports).toEqual(reported);
});

test('KEY-3 without a bot the notifications are dropped', async () => {
  await forgetLowBalances(db);
  expect(await send({ kind: 'done' })).toBe(0);
});

test('KEY-3 a notification whose wait started before the clock was set back is tried again', async () => {
  nowMs = NOW + 3_600_000;
  await send({ kind: 'failed', reason: 'busy' });
  nowMs = NOW;
  expect(await send({ kind: 'done' })).toBe(1);
});
