import { expect, test } from 'vitest';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import type { OutboxEntry } from '../../../../lambdas/core/ledger/ledger.ts';
import { settleOutbox } from '../../../../lambdas/core/ledger/outbox.ts';
import { type PastEntry, replayOutbox } from '../../../../lambdas/core/ledger/replay.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';

const HELD = 1_000_000n;
const EXPIRY_MS = 60_000;

const entryOf = (holdId: string, holdAmountPicos = HELD): OutboxEntry => ({
  record: { accountId: 'one', holdId, requestId: holdId.slice(0, 1), outcome: 'settled', amountPicos: 400_000n, at: 5 },
  holdAmountPicos,
});

/** A restored table with one account and its open holds, and the bucket as it was at the failure. */
const createScene = async (held: readonly string[], waiting: readonly OutboxEntry[] = []) => {
  const clock = new ManualClock(0);
  const store = new MemoryLedgerStore();
  const outbox = new MemoryOutbox();
  await store.createAccount('one', 0);
  await store.credit({ accountId: 'one', ref: 'first', amountPicos: 9_000_000n, reason: 'test', at: 0 });
  for (const holdId of held) {
    const times = { expiresAtMs: EXPIRY_MS, sweepAtMs: EXPIRY_MS };
    await store.hold({ accountId: 'one', holdId, amountPicos: HELD, ...times, previousHoldId: undefined });
  }
  for (const entry of waiting) await outbox.put(entry);
  const deps = { store, outbox, clock, random: () => 0, shortestLifetimeMs: 1_000 };
  const asked: number[] = [];
  const replay = async (past: readonly PastEntry[], isDryRun = false) => {
    const history = {
      since: async function* (atMs: number) {
        asked.push(atMs);
        yield* past;
      },
    };
    const replayed = await Array.fromAsync(replayOutbox(deps, history, { sinceMs: 7, isDryRun }));
    return replayed.map(({ entry, outcome }) => [entry.record.holdId, outcome]);
  };
  /** Lets the workers continue after every hold has expired. Returns spent, open holds and audit findings. */
  const continueWork = async () => {
    await clock.advance(EXPIRY_MS);
    await settleOutbox(deps);
    await clock.until(sweep(deps));
    const account = await store.readAccount('one');
    const audit = await auditAccount({ store, records: store, clock }, 'one');
    return [account?.spentPicos, account?.holds.size, audit?.findings];
  };
  return { store, outbox, asked, replay, continueWork };
};

test('OPS-16 a removed entry whose hold is open again is put back, and its charge counts once', async () => {
  const { replay, asked, continueWork } = await createScene(['a.0']);
  const past = [{ entry: entryOf('a.0'), isWaiting: false }];
  expect(await replay(past)).toEqual([['a.0', 'replayed']]);
  expect(await replay(past)).toEqual([['a.0', 'replayed']]);
  expect(asked).toEqual([7, 7]);
  expect(await continueWork()).toEqual([400_000n, 0, []]);
  expect(await replay(past)).toEqual([['a.0', 'recorded']]);
  expect(await continueWork()).toEqual([400_000n, 0, []]);
});

test('OPS-16 an entry whose charge the restored table has is left alone', async () => {
  const { store, outbox, replay, continueWork } = await createScene(['a.0']);
  await store.putRecord(entryOf('a.0').record);
  expect(await replay([{ entry: entryOf('a.0'), isWaiting: false }])).toEqual([['a.0', 'recorded']]);
  expect(outbox.notes()).toEqual([]);
  expect(await continueWork()).toEqual([400_000n, 0, []]);
});

test('OPS-16 a waiting entry without a hold is removed, because the audit would report its charge', async () => {
  const [kept, lost] = [entryOf('a.0'), entryOf('b.0')];
  const { outbox, replay, continueWork } = await createScene(['a.0'], [kept, lost]);
  const past = [kept, lost].map((entry) => ({ entry, isWaiting: true }));
  expect(await replay(past)).toEqual([
    ['a.0', 'replayed'],
    ['b.0', 'lost'],
  ]);
  expect(outbox.notes()).toEqual([kept]);
  expect(await continueWork()).toEqual([400_000n, 0, []]);
});

test('OPS-16 a hold of another amount, and an account that does not exist, are lost', async () => {
  const { outbox, replay } = await createScene(['a.0']);
  const other = { ...entryOf('c.0'), record: { ...entryOf('c.0').record, accountId: 'two' } };
  const past = [entryOf('a.0', HELD + 1n), other].map((entry) => ({ entry, isWaiting: false }));
  expect(await replay(past)).toEqual([
    ['a.0', 'lost'],
    ['c.0', 'lost'],
  ]);
  expect(outbox.notes()).toEqual([]);
});

test('OPS-16 a dry run reports the same and changes nothing', async () => {
  const waiting = entryOf('b.0');
  const { outbox, replay } = await createScene(['a.0'], [waiting]);
  const past = [
    { entry: entryOf('a.0'), isWaiting: false },
    { entry: waiting, isWaiting: true },
  ];
  expect(await replay(past, true)).toEqual([
    ['a.0', 'replayed'],
    ['b.0', 'lost'],
  ]);
  expect(outbox.notes()).toEqual([waiting]);
});
