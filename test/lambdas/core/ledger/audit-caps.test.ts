import { expect, test } from 'vitest';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import { capProblems } from '../../../../lambdas/core/ledger/audit-caps.ts';
import { toCap } from '../../../../lambdas/core/ledger/caps.ts';
import type { Account, ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const cap = { keyId: 'k', period: '2:2026-11-26' };
const record = (holdId: string, amountPicos: bigint, changes: Partial<ChargeRecord> = {}): ChargeRecord => ({
  accountId: 'one',
  holdId,
  requestId: holdId.slice(0, -2),
  outcome: 'settled',
  amountPicos,
  at: 0,
  cap,
  ...changes,
});
const accountWith = (leftPicos: bigint, period = cap.period): Account => ({
  id: 'one',
  status: 'active',
  availablePicos: 0n,
  creditedPicos: 0n,
  returnedPicos: 0n,
  spentPicos: 0n,
  holds: new Map([
    ['open.0', { amountPicos: 20n, expiresAtMs: 0, cap }],
    ['other.0', { amountPicos: 9n, expiresAtMs: 0, cap: { ...cap, period: '2:2026-11-25' } }],
    ['none.0', { amountPicos: 9n, expiresAtMs: 0 }],
  ]),
  version: 1,
  caps: new Map([['k', toCap(70n, leftPicos, period)]]),
});
const records = [
  record('a.0', 15n),
  record('b.0', 0n, { outcome: 'released' }),
  // Its hold is open, so the charge does not count yet.
  record('open.0', 5n),
  record('c.0', 9n, { cap: { ...cap, period: '2:2026-11-25' } }),
  record('d.0', 9n, { cap: { ...cap, keyId: 'l' } }),
];

test('KEY-9 the charges, the open holds and the rest of a cap add up to its limit', () => {
  expect(capProblems(accountWith(35n), records)).toEqual([]);
  expect(capProblems({ ...accountWith(1n), caps: new Map() }, records)).toEqual([]);
  expect(capProblems(accountWith(1n, '2:2026-W48'), records)).toEqual([]);
});

test('KEY-9 the latest period is compared, also if the clock was set back since', () => {
  const kept = (picos: bigint) => new Map([['2026-11-26', picos]]);
  const caps = (picos: bigint) => new Map([['k', toCap(70n, 1n, '2:2026-11-24', kept(picos))]]);
  expect(capProblems({ ...accountWith(0n), caps: caps(35n) }, records)).toEqual([]);
  expect(capProblems({ ...accountWith(0n), caps: caps(36n) }, records)).toMatchObject([{ differencePicos: 1n }]);
});

test.each([
  [36n, 1n],
  [34n, -1n],
])('KEY-9 a rest of %s pico-USD is a problem with its difference', (leftPicos, differencePicos) => {
  expect(capProblems(accountWith(leftPicos), records)).toEqual([
    {
      keyId: 'k',
      differencePicos,
      message: `of the cap of API key k 0.0000000000${leftPicos} USD is left, its charges and holds leave 0.000000000035 USD`,
    },
  ]);
});

test('KEY-9 the audit reports a cap that its account does not explain', async () => {
  const memory = new MemoryLedgerStore();
  await memory.createAccount('one', 0);
  memory.setCap('one', 'k', { limitPicos: 70n, kind: 'total' }, 0);
  const deps = { store: memory, records: memory, clock: new ManualClock() };
  expect((await auditAccount(deps, 'one'))?.findings).toEqual([]);
  await memory.putRecord(record('a.0', 0n, { cap: { keyId: 'k', period: '1:total' } }));
  expect((await auditAccount(deps, 'one'))?.findings).toEqual([]);
  await memory.putRecord(record('b.0', 15n, { cap: { keyId: 'k', period: '1:total' } }));
  const findings = (await auditAccount(deps, 'one'))?.findings;
  expect(findings?.map(({ invariant, differencePicos }) => [invariant, differencePicos])).toEqual([
    ['spent', -15n],
    ['cap', 15n],
  ]);
});
