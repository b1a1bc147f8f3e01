import type { IdempotencyDependencies } from '../../lambdas/core/idempotency/claim-store.ts';
import type { CreditDependencies } from '../../lambdas/core/ledger/credit.ts';
import type { Account, ChargeRecord, LedgerDependencies, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import type { Answer, AnswerTo, Kind, Op } from './operations.ts';
import type { Host } from './run-actor.ts';
import { ACCOUNT } from './world.ts';

/** Shortest hold lifetime in the search, in ms. */
export const SHORTEST_LIFETIME_MS = 300_000;
export const LEASE_MS = 60_000;

type Call = Host['call'];

const isAnswerTo = <K extends Kind>(answer: Answer, kind: K): answer is AnswerTo<K> => answer.kind === kind;

/** Sends a call and returns its reply, which must be of the same kind. */
const ask = async <K extends Kind>(call: Call, op: Op & { readonly kind: K }): Promise<AnswerTo<K>> => {
  const answer = await call(op);
  if (!isAnswerTo(answer, op.kind)) throw new Error(`${answer.kind} is not a reply to ${op.kind}`);
  return answer;
};

const leftOut = (): never => {
  throw new Error('the search does not model this part of a reply');
};

/** Account whose other members throw when read: the search does not model them. */
const onlyHolds = (holds: Account['holds']): Account => ({
  id: ACCOUNT,
  holds,
  get status() {
    return leftOut();
  },
  get creditedPicos() {
    return leftOut();
  },
  get returnedPicos() {
    return leftOut();
  },
  // Only the refresh of the allowance reads it, and the search has none.
  spentPicos: 0n,
  // Only the output limit of a later request depends on them, and the search has no such request.
  availablePicos: 0n,
  caps: new Map(),
  get version() {
    return leftOut();
  },
});

/** Keeps the members of a record that affect decisions. */
const deciding = ({ accountId, holdId, requestId, outcome, amountPicos, at, reason, answer, cap }: ChargeRecord) => ({
  accountId,
  holdId,
  requestId,
  outcome,
  amountPicos,
  at,
  ...(reason === undefined ? {} : { reason }),
  ...(answer === undefined ? {} : { answer }),
  ...(cap && { cap }),
});

const ledgerStore = (call: Call): LedgerStore => ({
  hold: async (request) => {
    const { refusedBy } = await ask(call, { kind: 'hold', request });
    if (refusedBy) return { kind: 'refused', account: refusedBy };
    return { kind: 'held', account: onlyHolds(new Map()) };
  },
  putRecord: async (record) => (await ask(call, { kind: 'putRecord', record: deciding(record) })).reply,
  apply: async (record, holdAmountPicos) => {
    const { applied } = await ask(call, { kind: 'apply', record: deciding(record), holdAmountPicos });
    // The balance is used on the receipt only.
    return applied ? { ...blank, holds: new Map() } : undefined;
  },
  readAccount: async () => onlyHolds((await ask(call, { kind: 'readAccount' })).holds),
  readRecord: async (_accountId, holdId) => (await ask(call, { kind: 'readRecord', holdId })).record,
  due: async (nowMs) => (await ask(call, { kind: 'due', nowMs })).due,
  reschedule: async (_accountId, sweepAtMs, dueMs) => {
    await ask(call, { kind: 'reschedule', sweepAtMs, dueMs });
  },
  sweepBy: async (_accountId, sweepAtMs) => {
    await ask(call, { kind: 'sweepBy', sweepAtMs });
  },
  createAccount: leftOut,
  closeMonths: leftOut,
  clearUncollected: leftOut,
  credit: leftOut,
});

const blank = {
  id: ACCOUNT,
  status: 'active',
  availablePicos: 0n,
  creditedPicos: 0n,
  returnedPicos: 0n,
  spentPicos: 0n,
  version: 0,
  caps: new Map(),
} as const;

export const ledgerDependencies = ({ call, clock }: Host): LedgerDependencies => ({
  store: ledgerStore(call),
  outbox: {
    put: async ({ record, holdAmountPicos }) => {
      await ask(call, { kind: 'putNote', note: { record: deciding(record), holdAmountPicos } });
    },
    read: async (holdId) => (await ask(call, { kind: 'readNote', holdId })).note,
    list: async () => (await ask(call, { kind: 'listNotes' })).holdIds,
    remove: async (holdId) => {
      await ask(call, { kind: 'removeNote', holdId });
    },
  },
  clock,
  random: () => 0,
  shortestLifetimeMs: SHORTEST_LIFETIME_MS,
});

export const creditDependencies = ({ call, clock }: Host): CreditDependencies => ({
  store: {
    credit: async (request) => (await ask(call, { kind: 'credit', request })).reply,
    // The balance is used in the response only.
    readAccount: async () => ({ ...blank, holds: new Map() }),
  },
  records: { readCredits: async () => (await ask(call, { kind: 'readCredits' })).records },
  clock,
  random: () => 0,
});

export const idempotencyDependencies = (host: Host): IdempotencyDependencies => {
  const { call } = host;
  return {
    claims: {
      claim: async (request) => (await ask(call, { kind: 'claim', request })).reply,
      renew: async (_ref, owner, leaseUntilMs) => (await ask(call, { kind: 'renew', owner, leaseUntilMs })).isOwner,
      stageResponse: async (_ref, owner, prepared, expiresAtMs) =>
        (await ask(call, { kind: 'prepare', owner, prepared, expiresAtMs })).isOwner,
      complete: async (_ref, owner) => (await ask(call, { kind: 'complete', owner })).isOwner,
      free: async (_ref, owner, dispatches) => (await ask(call, { kind: 'free', owner, dispatches })).isOwner,
      takeOver: async (request) => (await ask(call, { kind: 'takeOver', request })).reply,
      read: async () => (await ask(call, { kind: 'readClaim' })).claim,
    },
    // Responses in the search are small enough to be stored with the claim.
    answers: { put: leftOut, get: leftOut },
    ledger: ledgerDependencies(host),
    leaseMs: LEASE_MS,
  };
};
