import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { otherRaiseOf, toRaise } from '../../../../lambdas/stores/dynamodb/allowance-updates.ts';
import type { Item } from '../../../../lambdas/stores/dynamodb/item.ts';

const AT = Date.UTC(2026, 10, 26, 12);
const holdId = `${renderRequestId({ atMs: AT, random: 1 })}.0`;
const silent: ChargeRecord = {
  accountId: 'account',
  holdId,
  requestId: 'request',
  outcome: 'released',
  amountPicos: 0n,
  at: AT,
  uncollectedPicos: 5n,
  silentDeadline: true,
};

/** The account as a refused write returns it, with the hold open and a deadline without content at `AT` + 1 s. */
const refusedBy = (changes: Item = {}) => ({
  conditionFailed: {
    pk: 'account#account',
    id: 'account',
    status: 'active',
    available: 60n,
    credited: 100n,
    spent: 0n,
    version: 2n,
    holds: { [holdId]: { amount: 40n, expiresAt: BigInt(AT + 60_000) } },
    uncollectedDay: '2026-11-26',
    uncollected: 0n,
    uncollectedSilent: 1n,
    uncollectedSilentAt: BigInt(AT + 1_000),
    uncollectedFree: 5n,
    ...changes,
  },
});

test('BILL-21 a deadline without content of a call in progress at the first one is free', () => {
  const raise = otherRaiseOf(refusedBy(), silent, AT + 1_500);
  expect(raise).toEqual({ silentAtMs: AT + 1_000 });
  expect(toRaise({ record: silent, nowMs: AT + 1_500, ...(raise && { raise }) }).set).toContain('uncollectedFree =');
});

test.for([
  ['in a third group', { uncollectedSilent: 3n }],
  ['of a later call', { uncollectedSilentAt: BigInt(AT - 1) }],
  ['of another day', { uncollectedDay: '2026-11-25' }],
  ['of a closed hold', { holds: {} }],
] as const)('BILL-21 a deadline without content %s is not free', ([, changes]) => {
  expect(otherRaiseOf(refusedBy(changes), silent, AT + 1_500)).toBeUndefined();
});

test('BILL-21 an amount of an account on probation prolongs it', () => {
  const { silentDeadline: _silent, ...used } = silent;
  const record = { ...used, usesAllowance: true };
  expect(otherRaiseOf(refusedBy({ probationUntil: 70n }), record, AT)).toBe('onProbation');
  expect(otherRaiseOf(refusedBy({ probationUntil: 0n }), record, AT)).toBeUndefined();
});
