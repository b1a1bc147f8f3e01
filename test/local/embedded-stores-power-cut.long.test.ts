import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Claim, ClaimStore } from '../../lambdas/core/idempotency/claim-store.ts';
import { auditAccount } from '../../lambdas/core/ledger/audit.ts';
import type { ChargeRecord, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { settleOutbox } from '../../lambdas/core/ledger/outbox.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import type { FileSync } from '../../local/stores/files/atomic-files.ts';
import { type FileStores, openFileStores } from '../../local/stores/files/file-stores.ts';
import { createClaimStore } from '../../local/stores/sqlite/claim-store.ts';
import { Database } from '../../local/stores/sqlite/database.ts';
import { createLedgerRecords } from '../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore } from '../../local/stores/sqlite/ledger-store.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { randomRuns } from '../support/random-runs.ts';
import { PowerCut } from './power-cut.ts';

const runs = randomRuns(import.meta.filename, { quick: 0, long: 100 });
const NOW = Date.UTC(2026, 10, 1);
const ACCOUNTS = ['account-1', 'account-2'] as const;
const LANES_MAX = 8;
const DATABASE_FILE = 'gateway.db';

interface Stores extends Pick<FileStores, 'outbox' | 'answers'> {
  readonly db: Database;
  readonly ledger: LedgerStore;
  readonly records: LedgerRecords;
  readonly claims: ClaimStore;
}

interface Syncs {
  readonly database: () => Promise<void>;
  readonly files: FileSync;
}

const noSyncs: Syncs = {
  database: async () => undefined,
  files: { file: async () => undefined, folder: async () => undefined },
};

const openStores = async (folder: string, syncs: Syncs): Promise<Stores> => {
  const db = await Database.open({ path: join(folder, DATABASE_FILE), sync: syncs.database });
  const { outbox, answers } = await openFileStores({
    folder: join(folder, 'files'),
    sync: syncs.files,
    holdsDurable: () => db.durable(),
  });
  const [ledger, records, claims] = [createLedgerStore(db), createLedgerRecords(db), createClaimStore(db)];
  return { db, outbox, answers, ledger, records, claims };
};

/** Checks data that the stores have confirmed. Rejects if the power cut has lost it. */
type Check = (after: Stores) => Promise<void>;

/** Checks of what the stores have confirmed, by subject. A later check of a subject replaces the earlier one. */
type Promised = Map<string, Check>;

type Step = (stores: Stores, promised: Promised, accountId: string, id: string) => Promise<void>;

const recordOf = (accountId: string, requestId: string, outcome: ChargeRecord['outcome']): ChargeRecord => ({
  accountId,
  holdId: `${requestId}.0`,
  requestId,
  outcome,
  amountPicos: outcome === 'settled' ? 70n : 0n,
  at: NOW,
});

const HELD_PICOS = 100n;

const credit: Step = async ({ ledger }, promised, accountId, ref) => {
  expect(await ledger.credit({ accountId, ref, amountPicos: 5n, reason: 'test', at: NOW })).toEqual({
    kind: 'credited',
  });
  promised.set(`credit ${ref}`, async ({ records }) => {
    expect(await records.readCredits(accountId)).toContainEqual({
      ref,
      type: 'credit',
      amountPicos: 5n,
      reason: 'test',
      at: NOW,
      month: expect.any(String),
    });
  });
};

const hold = async (ledger: LedgerStore, accountId: string, holdId: string): Promise<void> => {
  const times = { expiresAtMs: NOW + 600_000, sweepAtMs: NOW + 600_000 };
  const request = { accountId, holdId, previousHoldId: undefined, amountPicos: HELD_PICOS, ...times };
  expect(await ledger.hold(request)).toMatchObject({ kind: 'held' });
};

const charge: Step = async ({ ledger }, promised, accountId, id) => {
  const record = recordOf(accountId, id, id.endsWith('3') ? 'released' : 'settled');
  const { holdId } = record;
  await hold(ledger, accountId, holdId);
  expect(await ledger.putRecord(record)).toEqual({ kind: 'written' });
  promised.set(`record ${holdId}`, async (after) => {
    expect(await after.ledger.readRecord(accountId, holdId)).toEqual(record);
  });
  await ledger.apply(record, HELD_PICOS, 0);
};

const read: Step = async ({ ledger }, promised, accountId) => {
  const seen = (await ledger.readAccount(accountId))?.version ?? 0;
  promised.set(`version ${seen} of ${accountId}`, async (after) => {
    expect((await after.ledger.readAccount(accountId))?.version).toBeGreaterThanOrEqual(seen);
  });
};

const states: readonly Claim['state'][] = ['open', 'prepared', 'done'];

const claim: Step = async ({ claims, answers }, promised, accountId, owner) => {
  const ref = { accountId, keyHash: owner };
  const promise = (state: Claim['state']) =>
    promised.set(`claim ${owner}`, async (after) => {
      const found = await after.claims.read(ref);
      expect(states.indexOf(found?.state ?? 'free')).toBeGreaterThanOrEqual(states.indexOf(state));
    });
  const times = { nowMs: NOW, leaseUntilMs: NOW + 60_000, expiresAtMs: NOW + 86_400_000 };
  await claims.claim({ ...ref, owner, fingerprint: 'print', dispatchesMax: 6, ...times });
  promise('open');
  const holdId = `${owner}.0`;
  const content = `${owner} `.repeat(100);
  await answers.put(holdId, content);
  promised.set(`answer ${holdId}`, async (after) => {
    expect(await after.answers.get(holdId)).toBe(content);
  });
  await claims.stageResponse(ref, owner, { holdId, hash: 'hash', content: { objectName: holdId } }, times.expiresAtMs);
  promise('prepared');
  await claims.complete(ref, owner);
  promise('done');
};

const enqueue: Step = async ({ ledger, outbox }, promised, accountId, id) => {
  const note = { record: recordOf(accountId, id, 'settled'), holdAmountPicos: HELD_PICOS };
  const { holdId } = note.record;
  const thing = `outbox entry ${holdId}`;
  await hold(ledger, accountId, holdId);
  await outbox.put(note);
  promised.set(thing, async (after) => {
    expect(await after.outbox.read(holdId)).toEqual(note);
    expect(await after.outbox.list()).toContain(holdId);
  });
  if (!id.endsWith('5')) return;
  await nextTurn();
  promised.delete(thing);
  await outbox.remove(holdId);
  promised.set(thing, async (after) => {
    expect(await after.outbox.read(holdId)).toBeUndefined();
  });
};

/** Completes a checkpoint, so that the next write restarts the WAL. */
const checkpoint: Step = async ({ db }) => {
  await db.peek(() => db.sql('PRAGMA wal_checkpoint(PASSIVE)').get());
};

const steps = { credit, charge, read, claim, enqueue, checkpoint };
const stepNames = [
  'credit',
  'charge',
  'charge',
  'charge',
  'read',
  'claim',
  'claim',
  'enqueue',
  'enqueue',
  'checkpoint',
] as const;

interface Round {
  /** Number of steps in progress at a time. With one lane, no other step's sync can hide a missing one. */
  readonly lanes: number;
  readonly steps: readonly (readonly [name: keyof typeof steps, account: number])[];
  /** When the power is cut: after this many ended steps, and then this many event loop turns. */
  readonly cutAfter: readonly [steps: number, turns: number];
  /** Durations of the syncs in event loop turns, in order. */
  readonly waits: readonly number[];
}

const rounds: fc.Arbitrary<Round> = fc.record({
  lanes: fc.integer({ min: 1, max: LANES_MAX }),
  steps: fc.array(fc.tuple(fc.constantFrom(...stepNames), fc.nat(ACCOUNTS.length - 1)), {
    minLength: 30,
    maxLength: 60,
    size: 'max',
  }),
  cutAfter: fc.noBias(fc.tuple(fc.nat(40), fc.nat(10))),
  waits: fc.array(fc.nat(3), { minLength: 1, maxLength: 20, size: 'max' }),
});

interface Outcome {
  /** Checks of everything that the stores had confirmed before the cut. */
  readonly checks: readonly Check[];
  /** Whether steps were left or in progress at the cut. */
  readonly wasBusy: boolean;
}

/** Runs the steps until the power is cut. */
const runUntilCut = async (folder: string, target: string, round: Round): Promise<Outcome> => {
  let syncs = 0;
  const wait = async (): Promise<void> => {
    syncs += 1;
    for (let turn = 0; turn <= (round.waits[syncs % round.waits.length] ?? 0); turn += 1) await nextTurn();
  };
  const power = new PowerCut({ folder, database: DATABASE_FILE, wait });
  const stores = await openStores(folder, { database: power.syncDatabase, files: power.syncFiles });
  const promised: Promised = new Map();
  for (const accountId of ACCOUNTS) {
    await stores.ledger.createAccount(accountId, 0);
    await stores.ledger.credit({ accountId, ref: 'first', amountPicos: 1_000_000n, reason: 'test', at: NOW });
  }
  const waiting = round.steps.entries();
  let isCut = false;
  let ended = 0;
  let underWay = round.lanes;
  const lane = async (): Promise<void> => {
    try {
      for (const [index, [name, account]] of waiting) {
        await steps[name](stores, promised, ACCOUNTS[account] ?? ACCOUNTS[0], `r${index}`);
        ended += 1;
        if (isCut) break;
      }
    } finally {
      underWay -= 1;
    }
  };
  const allEnded = Promise.allSettled(Array.from({ length: round.lanes }, lane));
  const [endedSteps, turns] = round.cutAfter;
  while (ended < endedSteps && underWay > 0) await nextTurn();
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  const wasBusy = underWay > 0;
  isCut = true;
  power.cut(target);
  const checks = [...promised.values()];
  for (const outcome of await allEnded) if (outcome.status === 'rejected') throw outcome.reason;
  await stores.db.close();
  return { checks, wasBusy };
};

/** Audits the account as it is, and again after the worker has applied the open records and charged the outbox. */
const expectCleanAudit = async ({ ledger, records, outbox }: Stores, accountId: string): Promise<void> => {
  const ports = { store: ledger, records, clock: new ManualClock(NOW) };
  expect(await auditAccount(ports, accountId)).toMatchObject({ stable: true, findings: [] });
  for (const record of (await records.listRecords(accountId, { limit: 1_000 })).records)
    await ledger.apply(record, HELD_PICOS, 0);
  const settling = { store: ledger, outbox, clock: ports.clock, random: () => 0, shortestLifetimeMs: 0 };
  expect(await settleOutbox(settling)).toMatchObject({ failed: 0 });
  expect(await auditAccount(ports, accountId)).toMatchObject({ stable: true, findings: [] });
};

test('OPS-8 IDEM-2 everything that was durable before a power cut is there after it', async () => {
  const counted = { rounds: 0, busy: 0, checks: 0 };
  await fc.assert(
    fc.asyncProperty(rounds, async (round) => {
      const base = mkdtempSync(join(tmpdir(), 'power-'));
      const [folder, target] = [join(base, 'before'), join(base, 'after')];
      mkdirSync(folder);
      const { checks, wasBusy } = await runUntilCut(folder, target, round);
      const after = await openStores(target, noSyncs);
      for (const check of checks) await check(after);
      for (const accountId of ACCOUNTS) await expectCleanAudit(after, accountId);
      await after.db.close();
      rmSync(base, { recursive: true });
      counted.rounds += 1;
      counted.busy += Number(wasBusy);
      counted.checks += checks.length;
    }),
    { ...runs, endOnFailure: true },
  );
  process.stdout.write(`${JSON.stringify(counted)}\n`);
  // Rounds without confirmed writes or without steps in progress prove little.
  expect(counted.busy).toBeGreaterThan(counted.rounds / 2);
  expect(counted.checks).toBeGreaterThan(10 * counted.rounds);
});
