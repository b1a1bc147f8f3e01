import type { Claim } from '../../lambdas/core/idempotency/claim-store.ts';
import { type Caps, holdInCap } from '../../lambdas/core/ledger/caps.ts';
import { closeHold } from '../../lambdas/core/ledger/close-hold.ts';
import type { CreditRecord } from '../../lambdas/core/ledger/credit-record.ts';
import type { ChargeRecord, HoldRequest, OutboxEntry } from '../../lambdas/core/ledger/ledger.ts';
import { type Account, HOLDS_MAX, holdOf } from '../../lambdas/core/ledger/ledger.ts';
import { claimStep } from './claim-steps.ts';
import { creditStep } from './credit-steps.ts';
import type { Answer, Op } from './operations.ts';

export const ACCOUNT = 'account-1';
/** Id of an API key with a cap. */
export const CAPPED = 'k';
export const KEY = { accountId: ACCOUNT, keyHash: 'key-1' } as const;

/** Everything stored, as immutable data: one account with its records and outbox entries, and one claim. */
export interface World {
  /** The version stays 0. No decision depends on it, and counting would separate equal states. */
  readonly account: Account;
  readonly sweepAtMs: number | undefined;
  readonly records: ReadonlyMap<string, ChargeRecord>;
  readonly notes: ReadonlyMap<string, OutboxEntry>;
  readonly claim: Claim | undefined;
  /** Changes of credit by reference. */
  readonly credits: ReadonlyMap<string, CreditRecord>;
}

export interface Step {
  readonly world: World;
  readonly answer: Answer;
}

export const newWorld = (creditedPicos: bigint, caps: Caps = new Map()): World => ({
  account: {
    id: ACCOUNT,
    status: 'active',
    availablePicos: creditedPicos,
    creditedPicos,
    returnedPicos: 0n,
    spentPicos: 0n,
    month: '1970-01',
    holds: new Map(),
    version: 0,
    caps,
  },
  sweepAtMs: undefined,
  records: new Map(),
  notes: new Map(),
  claim: undefined,
  credits: new Map([
    ['first', { ref: 'first', type: 'credit', amountPicos: creditedPicos, reason: 'test', at: 0, month: '1970-01' }],
  ]),
});

/** Executes one call under the conditions of the tables. A provider call can have several results. */
export const execute = (world: World, op: Op): readonly Step[] => {
  if (op.kind === 'vendor') return op.outcomes.map((served) => ({ world, answer: { kind: 'vendor', served } }));
  return [
    ledgerStep(world, op) ?? outboxStep(world, op) ?? claimStep(world, op) ?? creditStep(world, op) ?? unknown(op),
  ];
};

const unknown = ({ kind }: Op): Step => {
  throw new Error(`the world does not support ${kind}`);
};

const ledgerStep = (world: World, op: Op): Step | undefined => {
  const { account, records } = world;
  switch (op.kind) {
    case 'start':
    case 'timer':
      return { world, answer: { kind: op.kind } };
    case 'hold':
      return hold(world, op.request);
    case 'putRecord': {
      const present = records.get(op.record.holdId);
      if (present) return { world, answer: { kind: 'putRecord', reply: { kind: 'exists', record: present } } };
      const added = new Map(records).set(op.record.holdId, op.record);
      return { world: { ...world, records: added }, answer: { kind: 'putRecord', reply: { kind: 'written' } } };
    }
    case 'apply':
      return apply(world, op.record, op.holdAmountPicos);
    case 'readAccount':
      return { world, answer: { kind: 'readAccount', holds: account.holds } };
    case 'readRecord':
      return { world, answer: { kind: 'readRecord', record: records.get(op.holdId) } };
    case 'due': {
      const isDue = world.sweepAtMs !== undefined && world.sweepAtMs <= op.nowMs;
      return { world, answer: { kind: 'due', due: isDue ? [{ accountId: ACCOUNT }] : [] } };
    }
    case 'reschedule': {
      const { sweepAtMs: presentMs = op.dueMs } = world;
      const isSetSince = op.sweepAtMs !== undefined && presentMs > op.dueMs && presentMs < op.sweepAtMs;
      const stays = isSetSince || (op.sweepAtMs === undefined && account.holds.size > 0);
      return { world: stays ? world : { ...world, sweepAtMs: op.sweepAtMs }, answer: { kind: 'reschedule' } };
    }
    case 'sweepBy': {
      const sweepAtMs = Math.min(world.sweepAtMs ?? op.sweepAtMs, op.sweepAtMs);
      return { world: { ...world, sweepAtMs }, answer: { kind: 'sweepBy' } };
    }
    default:
      return undefined;
  }
};

const hold = (world: World, request: HoldRequest): Step => {
  const { account } = world;
  const { holdId, amountPicos, cap } = request;
  const caps = holdInCap(account.caps, cap, amountPicos);
  if (!caps || !mayHold(account, request)) {
    return { world, answer: { kind: 'hold', refusedBy: account } };
  }
  const held: Account = {
    ...account,
    availablePicos: account.availablePicos - amountPicos,
    holds: new Map(account.holds).set(holdId, holdOf(request)),
    caps,
  };
  return {
    world: { ...world, account: held, sweepAtMs: world.sweepAtMs ?? request.sweepAtMs },
    answer: { kind: 'hold', refusedBy: undefined },
  };
};

const mayHold = (account: Account, { amountPicos, holdId, previousHoldId }: HoldRequest): boolean =>
  account.status === 'active' &&
  account.creditedPicos > account.spentPicos &&
  account.availablePicos >= amountPicos &&
  !account.holds.has(holdId) &&
  account.holds.size < HOLDS_MAX &&
  (previousHoldId === undefined || !account.holds.has(previousHoldId));

const apply = (world: World, record: ChargeRecord, holdAmountPicos: bigint): Step => {
  const applied = closeHold(world.account, record, holdAmountPicos, 0);
  if (!applied) return { world, answer: { kind: 'apply', applied: false } };
  return { world: { ...world, account: { ...applied, version: 0 } }, answer: { kind: 'apply', applied: true } };
};

const outboxStep = (world: World, op: Op): Step | undefined => {
  const { notes } = world;
  switch (op.kind) {
    case 'putNote':
      return {
        world: { ...world, notes: new Map(notes).set(op.note.record.holdId, op.note) },
        answer: { kind: 'putNote' },
      };
    case 'readNote':
      return { world, answer: { kind: 'readNote', note: notes.get(op.holdId) } };
    case 'listNotes':
      return { world, answer: { kind: 'listNotes', holdIds: [...notes.keys()].sort() } };
    case 'removeNote': {
      const left = new Map(notes);
      left.delete(op.holdId);
      return { world: { ...world, notes: left }, answer: { kind: 'removeNote' } };
    }
    default:
      return undefined;
  }
};
