import { expect, test } from 'vitest';
import type { AuditStores } from '../../../../lambdas/core/ledger/audit.ts';
import { auditAccount, auditAll, SWEEP_LATE_MS } from '../../../../lambdas/core/ledger/audit.ts';
import type { Account, ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { apply, commit } from '../../../../lambdas/core/ledger/resolve.ts';
import { fails, withFaults, withRecordFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { ID, type LedgerScene, LIFETIME_MS, ledgerScene, settledRecord } from './ledger-scene.ts';

const idOf = (number: number): string => `r${String(number).padStart(4, '0')}.0`;

/** Places a hold, commits a charge and, if `applied`, applies it to the account. */
const charge = async ({ deps }: LedgerScene, holdId: string, changes: Partial<ChargeRecord> = {}, applied = true) => {
  const hold = { accountId: ID, holdId, amountPicos: 50n, expiresAtMs: deps.clock.now() + LIFETIME_MS };
  await deps.store.hold({ ...hold, sweepAtMs: 0, previousHoldId: undefined });
  const record = await commit(deps, { ...settledRecord(holdId, 30n, 0), ...changes });
  if (applied) await apply(deps, record, 50n);
};

interface Tampering {
  readonly account?: (account: Account) => Account;
  readonly record?: (record: ChargeRecord) => ChargeRecord;
}

/** Returns audit stores that read the ledger with the changed accounts and records. */
const told = (memory: MemoryLedgerStore, { account = (it) => it, record = (it) => it }: Tampering): AuditStores => ({
  store: {
    readAccount: async (accountId) => {
      const found = await memory.readAccount(accountId);
      return found && account(found);
    },
  },
  records: {
    ...withRecordFaults(memory, {}),
    listRecords: async (accountId, range) => {
      const { records, more } = await memory.listRecords(accountId, range);
      return { records: records.map(record), more };
    },
  },
});

const scene = async (): Promise<LedgerScene> => {
  const opened = await ledgerScene(1_000n);
  for (let number = 1; number <= 3; number += 1) await charge(opened, idOf(number));
  const released = { outcome: 'released', amountPicos: 0n, reason: 'upstream_error' } as const;
  await charge(opened, idOf(4), released);
  return opened;
};

const audit = ({ memory, clock }: LedgerScene, tampering: Tampering = {}) =>
  auditAccount({ ...told(memory, tampering), clock }, ID);

test('OPS-5 a consistent account is clean, and all its records are counted', async () => {
  const opened = await scene();
  expect(await audit(opened)).toEqual({
    accountId: ID,
    stable: true,
    records: 4,
    openHolds: 0,
    expiredHolds: 0,
    overage: [],
    implausible: [],
    findings: [],
  });
});

test('OPS-5 a charge whose hold is still open is not summed', async () => {
  const opened = await scene();
  await charge(opened, idOf(5), {}, false);
  expect(await audit(opened)).toMatchObject({ stable: true, records: 5, openHolds: 1, findings: [] });
});

const of = (holdId: string, changes: Partial<ChargeRecord>) => (record: ChargeRecord) =>
  record.holdId === holdId ? { ...record, ...changes } : record;

const priced = { usage: { input: 10, cacheRead: 5, output: 2, reasoning: 1 }, prices: { input: 1n, output: 5n } };

test.each<readonly [invariant: string, recordId: string | null, tampering: Tampering]>([
  ['balance', null, { account: (it) => ({ ...it, availablePicos: it.availablePicos + 1n }) }],
  [
    'balance',
    null,
    { account: (it) => ({ ...it, holds: new Map([['x.0', { amountPicos: 1n, expiresAtMs: 1e15 }]]) }) },
  ],
  [
    'spent',
    null,
    { account: (it) => ({ ...it, spentPicos: it.spentPicos + 1n, availablePicos: it.availablePicos - 1n }) },
  ],
  ['spent', null, { record: of(idOf(2), { amountPicos: 31n }) }],
  ['spent', null, { record: of(idOf(2), { outcome: 'released', amountPicos: 0n }) }],
  [
    'credited',
    null,
    { account: (it) => ({ ...it, creditedPicos: it.creditedPicos + 1n, availablePicos: it.availablePicos + 1n }) },
  ],
  ['released-costs-nothing', idOf(4), { record: of(idOf(4), { amountPicos: 1n }) }],
  ['charge-as-priced', idOf(1), { record: of(idOf(1), { ...priced, prices: { input: 1n, output: 4n } }) }],
  ['charge-as-priced', idOf(1), { record: of(idOf(1), { ...priced, usage: { ...priced.usage, output: 3 } }) }],
  ['record-in-place', idOf(3), { record: of(idOf(3), { accountId: 'another' }) }],
  ['record-in-place', idOf(3), { record: of(idOf(3), { requestId: 'another' }) }],
])('OPS-5 a violation of "%s" is found, at record %s', async (invariant, recordId, tampering) => {
  const opened = await scene();
  const result = await audit(opened, tampering);
  expect(result?.stable).toBe(true);
  expect(result?.findings).toMatchObject([{ accountId: ID, recordId, invariant, message: expect.any(String) }]);
});

test('BILL-3 a charge of usage times price has no finding, and an implausible one only a flag', async () => {
  const opened = await scene();
  await charge(opened, idOf(5), priced);
  await charge(opened, idOf(6), { ...priced, amountPicos: 29n, implausible: true });
  await charge(opened, idOf(7), { ...priced, prices: { input: 1n, output: 5n, perImage: 9n }, amountPicos: 12n });
  const cached = {
    prices: { input: 1n, output: 5n, cacheRead: 0n, cacheWrite: 2n, cacheWrite1h: 3n },
    amountPicos: 25n,
  };
  await charge(opened, idOf(8), { ...priced, ...cached });
  expect(await audit(opened)).toMatchObject({ implausible: [idOf(6)], findings: [] });
});

test('BILL-7 a negative available balance requires a charge with the overage flag', async () => {
  const flagged = await ledgerScene(100n);
  await charge(flagged, idOf(1), { amountPicos: 150n, overage: true });
  expect(await audit(flagged)).toMatchObject({ overage: [idOf(1)], findings: [] });
  const result = await audit(flagged, { record: of(idOf(1), { overage: false }) });
  expect(result?.findings).toMatchObject([{ recordId: null, invariant: 'overdrawn-by-overage' }]);
});

test('IDEM-2 two charges of one request are found, and the second is reported', async () => {
  const opened = await scene();
  await charge(opened, 'r0002.1');
  const result = await audit(opened);
  expect(result?.findings).toMatchObject([{ recordId: 'r0002.1', invariant: 'one-charge-per-request' }]);
});

test('BILL-13 a hold is a finding once it is open more than ten minutes after its expiry', async () => {
  const opened = await scene();
  await charge(opened, idOf(5), {}, false);
  await opened.clock.advance(LIFETIME_MS + SWEEP_LATE_MS);
  expect(await audit(opened)).toMatchObject({ openHolds: 1, expiredHolds: 1, findings: [] });
  await opened.clock.advance(1);
  const result = await audit(opened);
  expect(result?.findings).toMatchObject([{ recordId: idOf(5), invariant: 'hold-swept' }]);
});

test('OPS-11 an outcome and a hold of a newer release are findings, and nothing else', async () => {
  const opened = await scene();
  await charge(opened, idOf(5), {}, false);
  await opened.clock.advance(LIFETIME_MS + SWEEP_LATE_MS + 1);
  const result = await audit(opened, {
    record: of(idOf(4), { outcome: 'settled', newerOutcome: 'voided', ...priced, amountPicos: 0n }),
    account: (it) => ({
      ...it,
      holds: new Map([...it.holds].map(([id, hold]) => [id, { ...hold, isNewer: true as const }])),
    }),
  });
  expect(result?.findings).toMatchObject([
    { recordId: idOf(5), invariant: 'readable' },
    { recordId: idOf(4), invariant: 'readable', message: 'the outcome "voided" is of a newer release' },
  ]);
});

test('OPS-5 an unreadable record is a finding, and a failing store is an error', async () => {
  const opened = await scene();
  const stores = told(opened.memory, {
    record: ({ holdId }) => {
      throw new Error(`CHARGE#${holdId}: no amount`);
    },
  });
  const result = await auditAccount({ ...stores, clock: opened.clock }, ID);
  expect(result?.findings).toMatchObject([
    { accountId: ID, invariant: 'readable', message: `CHARGE#${idOf(4)}: no amount` },
  ]);
  for (const method of ['listRecords', 'readCredits'] as const) {
    const records = withRecordFaults(opened.memory, { [method]: fails });
    await expect(auditAccount({ store: opened.memory, records, clock: opened.clock }, ID)).rejects.toThrow('no answer');
  }
  const store = withFaults(opened.memory, { readAccount: fails });
  await expect(auditAccount({ store, records: opened.memory, clock: opened.clock }, ID)).rejects.toThrow('no answer');
});

/** Charges the account during a read of its records, up to `times` times. */
const inUse = (opened: LedgerScene, times: number): AuditStores => {
  let left = times;
  return {
    store: opened.memory,
    records: {
      ...withRecordFaults(opened.memory, {}),
      listRecords: async (accountId, range) => {
        const page = await opened.memory.listRecords(accountId, range);
        if (left > 0) await charge(opened, idOf(1_000 - left));
        left -= 1;
        return page;
      },
    },
  };
};

test('OPS-5 an account in use is read until no write happens during the reading', async () => {
  const opened = await scene();
  const result = await auditAccount({ ...inUse(opened, 20), clock: opened.clock }, ID);
  expect(result).toMatchObject({ stable: true, records: 24, findings: [] });
});

test('OPS-5 an account that is written all the time is unstable, and its sums are not compared', async () => {
  const opened = await ledgerScene(1_000_000n);
  const result = await auditAccount({ ...inUse(opened, 900), clock: opened.clock }, ID);
  expect(result).toMatchObject({ stable: false, findings: [] });
});

test('OPS-5 a charge that the first reading missed is not a finding', async () => {
  const opened = await ledgerScene(1_000_000n);
  for (let number = 1; number <= 60; number += 1) await charge(opened, idOf(number));
  // A request with an early id is charged between two readings, so only a reading from the start sees its record.
  let turn = 0;
  const records = {
    ...withRecordFaults(opened.memory, {}),
    listRecords: async (...[accountId, range]: Parameters<MemoryLedgerStore['listRecords']>) => {
      const page = await opened.memory.listRecords(accountId, range);
      if (turn === 0) await charge(opened, 'q.0');
      turn += 1;
      return page;
    },
  };
  const result = await auditAccount({ store: opened.memory, records, clock: opened.clock }, ID);
  expect(turn).toBeGreaterThan(2);
  expect(result).toMatchObject({ stable: true, records: 61, findings: [] });
});

test('OPS-5 every account is audited, and an unknown account has no audit', async () => {
  const memory = new MemoryLedgerStore();
  const deps = { store: memory, records: memory, clock: new ManualClock() };
  for (const id of ['one', 'two', 'three']) await memory.createAccount(id, 0);
  const audits = await Array.fromAsync(auditAll(deps));
  expect(audits.map(({ accountId }) => accountId)).toEqual(['one', 'two', 'three']);
  expect(await auditAccount(deps, 'four')).toBeUndefined();
});
