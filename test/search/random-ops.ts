import fc from 'fast-check';
import type { CapCondition } from '../../lambdas/core/ledger/caps.ts';
import { creditTypes } from '../../lambdas/core/ledger/credit-record.ts';
import type { Op } from './operations.ts';
import { ACCOUNT, CAPPED, KEY } from './world.ts';

/** Few values, so that calls collide. */
const holdIds = ['a.0', 'a.1', 'b.0'] as const;
const owners = ['a', 'b'] as const;
const ref = fc.constantFrom('first', 'r', 's', 't');
const holdId = fc.constantFrom(...holdIds);
const owner = fc.constantFrom(...owners);
const atMs = fc.constantFrom(0, 10, 20, 30);
const amountPicos = fc.constantFrom(0n, 40n, 100n);

/** The first period is the present one of a new account. */
const [first, second] = ['2:1970-01-01', '2:1970-01-02'];
const conditions: readonly CapCondition[] = [
  { keyId: CAPPED, period: first },
  { keyId: CAPPED, period: second, ends: first },
  { keyId: CAPPED, period: second },
  { keyId: CAPPED, period: undefined },
  { keyId: 'other', period: undefined },
];

const record = fc.record({
  accountId: fc.constant(ACCOUNT),
  holdId,
  requestId: owner,
  outcome: fc.constantFrom('settled', 'released'),
  amountPicos,
  at: atMs,
});

const prepared = fc.record({
  holdId,
  hash: fc.constantFrom('x', 'y'),
  content: fc.constant({ status: 200, headers: {}, body: '{}' }),
});

const terms = { ...KEY, owner, nowMs: atMs, leaseUntilMs: atMs, expiresAtMs: atMs };
const key = { accountId: fc.constant(KEY.accountId), keyHash: fc.constant(KEY.keyHash) };

const kind = <K extends string>(name: K) => fc.constant(name);

/** Any call to a store that the search can send. */
export const anyOp: fc.Arbitrary<Op> = fc.oneof(
  fc.record({
    kind: kind('hold'),
    request: fc.record({
      accountId: fc.constant(ACCOUNT),
      holdId,
      amountPicos,
      expiresAtMs: atMs,
      sweepAtMs: atMs,
      previousHoldId: fc.constantFrom(undefined, ...holdIds),
      cap: fc.constantFrom(undefined, ...conditions),
    }),
  }),
  fc.record({ kind: kind('putRecord'), record }),
  fc.record({ kind: kind('apply'), record, holdAmountPicos: amountPicos }),
  fc.record({ kind: kind('readAccount') }),
  fc.record({ kind: kind('readRecord'), holdId }),
  fc.record({ kind: kind('due'), nowMs: atMs }),
  fc.record({ kind: kind('reschedule'), sweepAtMs: fc.option(atMs, { nil: undefined }), dueMs: atMs }),
  fc.record({ kind: kind('sweepBy'), sweepAtMs: atMs }),
  fc.record({ kind: kind('putNote'), note: fc.record({ record, holdAmountPicos: amountPicos }) }),
  fc.record({ kind: kind('readNote'), holdId }),
  fc.record({ kind: kind('listNotes') }),
  fc.record({ kind: kind('removeNote'), holdId }),
  fc.record({
    kind: kind('claim'),
    request: fc.record({ ...terms, ...key, fingerprint: fc.constantFrom('f', 'g'), dispatchesMax: fc.constant(3) }),
  }),
  fc.record({ kind: kind('renew'), owner, leaseUntilMs: atMs }),
  fc.record({ kind: kind('prepare'), owner, prepared, expiresAtMs: atMs }),
  fc.record({ kind: kind('complete'), owner }),
  fc.record({ kind: kind('free'), owner, dispatches: fc.constantFrom(0, 1, 2) }),
  fc.record({ kind: kind('takeOver'), request: fc.record({ ...terms, ...key, from: owner }) }),
  fc.record({ kind: kind('readClaim') }),
  fc.record({ kind: kind('readCredits') }),
  fc.record({
    kind: kind('credit'),
    request: fc.record(
      {
        accountId: fc.constant(ACCOUNT),
        ref,
        type: fc.constantFrom(...creditTypes),
        amountPicos: fc.constantFrom(40n, 100n),
        reason: fc.constant('test'),
        at: atMs,
        of: ref,
        target: fc.record(
          { creditRef: ref, creditAmountPicos: fc.constantFrom(250n, 100n), chargebackRef: ref },
          { requiredKeys: ['creditRef', 'creditAmountPicos'] },
        ),
      },
      { requiredKeys: ['accountId', 'ref', 'amountPicos', 'reason', 'at'] },
    ),
  }),
);
