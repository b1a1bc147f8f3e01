import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { type AuditCursor, type AuditRunDependencies, auditUntil } from '../../../../lambdas/core/ledger/audit-run.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { withRecordFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const RUN_MS = 1_000;
const IDS = ['one', 'two', 'three'] as const;

/** A charge without a hold. */
const stray: ChargeRecord = {
  accountId: 'two',
  holdId: 'x.0',
  requestId: 'x',
  outcome: 'settled',
  amountPicos: 1n,
  at: 0,
};

const memoryCursor = (): AuditCursor & { at: string | undefined } => {
  const cursor = {
    at: undefined as string | undefined,
    read: async () => cursor.at,
    write: async (accountId: string | undefined) => {
      cursor.at = accountId;
    },
  };
  return cursor;
};

/** Three accounts. Each read of an account takes the time in `takesMs`. */
const createScene = async (takesMs: Readonly<Record<string, number>> = {}) => {
  const store = new MemoryLedgerStore();
  for (const id of IDS) {
    await store.createAccount(id, 0);
    await store.credit({ accountId: id, ref: 'first', amountPicos: 5n, reason: 'test', at: 0 });
  }
  const clock = new ManualClock();
  const cursor = memoryCursor();
  const records: AuditRunDependencies['records'] = {
    ...withRecordFaults(store, {}),
    listRecords: async (accountId, range) => {
      clock.skip(takesMs[accountId] ?? 0);
      return store.listRecords(accountId, range);
    },
  };
  const deps: AuditRunDependencies = { store, records, clock, cursor };
  const run = async (changes: Partial<AuditRunDependencies> = {}) => {
    const seen: string[] = [];
    const reported = await auditUntil({ ...deps, ...changes }, clock.now() + RUN_MS, {
      audited: ({ accountId, findings }) => seen.push(findings.length === 0 ? accountId : `${accountId} differs`),
      tooLong: (accountId) => seen.push(`${accountId} takes too long`),
    });
    return { ...reported, seen };
  };
  return { store, clock, cursor, run };
};

test('OPS-3 a run audits every account, and the next one starts over', async () => {
  const { run, cursor } = await createScene();
  expect(await run()).toEqual({ complete: true, seen: [...IDS] });
  expect(cursor.at).toBeUndefined();
  expect(await run()).toMatchObject({ complete: true });
});

test('OPS-3 a run that is out of time leaves the remaining accounts to the next', async () => {
  const { run, cursor } = await createScene({ one: 600, two: 600 });
  expect(await run()).toEqual({ complete: false, seen: ['one', 'two'] });
  expect(cursor.at).toBe('two');
  expect(await run()).toEqual({ complete: true, seen: ['three'] });
  expect(cursor.at).toBeUndefined();
});

test('OPS-3 an account cut off by the time limit is retried first, and skipped if cut off again', async () => {
  const { run, store } = await createScene({ two: 1_200 });
  // The stray charge makes the sums of `two` differ, so the audit reads that account again. No time is left for that.
  await store.putRecord(stray);
  expect(await run()).toEqual({ complete: false, seen: ['one'] });
  expect(await run()).toEqual({ complete: false, seen: ['two takes too long'] });
  expect(await run()).toEqual({ complete: true, seen: ['three'] });
});

test('OPS-3 an account that differs is reported, and the others are still audited', async () => {
  const { run, store } = await createScene();
  await store.putRecord(stray);
  expect(await run()).toMatchObject({ seen: ['one', 'two differs', 'three'] });
});

test('OPS-3 a store failure ends the run, and the next one continues after the last account', async () => {
  const { run, store, cursor } = await createScene();
  const failing = {
    readAccount: async (id: string) => {
      if (id === 'three') throw new StoreError('unavailable', 'away');
      return store.readAccount(id);
    },
  };
  await expect(run({ store: failing })).rejects.toThrow('away');
  expect(cursor.at).toBe('two');
  expect(await run()).toEqual({ complete: true, seen: ['three'] });
});

test('OPS-3 a scan of places without an account is continued by the next runs', async () => {
  const { run, store, clock, cursor } = await createScene();
  /** Yields 30 pages without an account between the first and the second account. Each page takes 100 ms. */
  async function* accountPlaces(after?: string) {
    for (let page = after?.startsWith('page') ? Number(after.slice(4)) + 1 : 0; page < 30; page += 1) {
      if (after === 'two') break;
      clock.skip(100);
      yield { place: `page${page}` };
    }
    yield { accountId: 'two', place: 'two' };
  }
  const records = { ...withRecordFaults(store, {}), accountPlaces };
  expect(await run({ records })).toEqual({ complete: false, seen: [] });
  expect(cursor.at).toBe('page8');
  let runs = 1;
  for (let complete = false; !complete && runs < 9; runs += 1) ({ complete } = await run({ records }));
  expect([runs, cursor.at]).toEqual([4, undefined]);
});

test.each([
  ['fits is read again without counting the first reading', 2, 'two differs'],
  ['does not fit is skipped', 9, 'two takes too long'],
])('OPS-3 the record limit of a run applies to each reading: an account that %s', async (_what, pages, reported) => {
  const { run, store } = await createScene();
  const page = Array<ChargeRecord>(200_000).fill(stray);
  let read = 0;
  const listRecords: AuditRunDependencies['records']['listRecords'] = async (accountId, range) => {
    if (accountId !== 'two') return store.listRecords(accountId, range);
    read = range.beforeHoldId === undefined ? 1 : read + 1;
    return { records: page, more: read < pages };
  };
  const records = { ...withRecordFaults(store, {}), listRecords };
  expect(await run({ records })).toEqual({ complete: true, seen: ['one', reported, 'three'] });
});
