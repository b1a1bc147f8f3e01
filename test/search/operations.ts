import type {
  Claim,
  ClaimReply,
  ClaimRequest,
  ClaimStore,
  PreparedAnswer,
} from '../../lambdas/core/idempotency/claim-store.ts';
import type { CapCondition } from '../../lambdas/core/ledger/caps.ts';
import type { CreditRecord } from '../../lambdas/core/ledger/credit-record.ts';
import type {
  Account,
  ChargeRecord,
  CreditReply,
  CreditRequest,
  Due,
  HoldRequest,
  OutboxEntry,
  RecordReply,
} from '../../lambdas/core/ledger/ledger.ts';

export type TakeOver = Parameters<ClaimStore['takeOver']>[0];
export type TakeOverReply = Awaited<ReturnType<ClaimStore['takeOver']>>;

/** Results of a provider call. */
export type Served = 'good' | 'failed' | 'refused';

/** Calls that an actor can wait for: a store, a provider, a timer, or its own start. */
export type Op =
  | { readonly kind: 'start' }
  | { readonly kind: 'vendor'; readonly outcomes: readonly Served[] }
  | { readonly kind: 'timer'; readonly dueMs: number }
  | { readonly kind: 'hold'; readonly request: HoldRequest }
  | { readonly kind: 'putRecord'; readonly record: ChargeRecord }
  | { readonly kind: 'apply'; readonly record: ChargeRecord; readonly holdAmountPicos: bigint }
  | { readonly kind: 'readAccount' }
  | { readonly kind: 'readRecord'; readonly holdId: string }
  | { readonly kind: 'due'; readonly nowMs: number }
  | { readonly kind: 'reschedule'; readonly sweepAtMs: number | undefined; readonly dueMs: number }
  | { readonly kind: 'sweepBy'; readonly sweepAtMs: number }
  | { readonly kind: 'putNote'; readonly note: OutboxEntry }
  | { readonly kind: 'readNote'; readonly holdId: string }
  | { readonly kind: 'listNotes' }
  | { readonly kind: 'removeNote'; readonly holdId: string }
  | { readonly kind: 'claim'; readonly request: ClaimRequest }
  | { readonly kind: 'renew'; readonly owner: string; readonly leaseUntilMs: number }
  | {
      readonly kind: 'prepare';
      readonly owner: string;
      readonly prepared: PreparedAnswer;
      readonly expiresAtMs: number;
    }
  | { readonly kind: 'complete'; readonly owner: string }
  | { readonly kind: 'free'; readonly owner: string; readonly dispatches: number }
  | { readonly kind: 'takeOver'; readonly request: TakeOver }
  | { readonly kind: 'readClaim' }
  | { readonly kind: 'credit'; readonly request: CreditRequest }
  | { readonly kind: 'readCredits' };

export type Answer =
  | { readonly kind: 'start' }
  | { readonly kind: 'timer' }
  | { readonly kind: 'reschedule' }
  | { readonly kind: 'sweepBy' }
  | { readonly kind: 'putNote' }
  | { readonly kind: 'removeNote' }
  | { readonly kind: 'vendor'; readonly served: Served }
  /** `refusedBy` has the account only if the protocols may read it. */
  | { readonly kind: 'hold'; readonly refusedBy: Account | undefined }
  | { readonly kind: 'putRecord'; readonly reply: RecordReply }
  | { readonly kind: 'apply'; readonly applied: boolean }
  | { readonly kind: 'readAccount'; readonly holds: Account['holds'] }
  | { readonly kind: 'readRecord'; readonly record: ChargeRecord | undefined }
  | { readonly kind: 'due'; readonly due: readonly Due[] }
  | { readonly kind: 'readNote'; readonly note: OutboxEntry | undefined }
  | { readonly kind: 'listNotes'; readonly holdIds: readonly string[] }
  | { readonly kind: 'claim'; readonly reply: ClaimReply }
  | { readonly kind: 'renew'; readonly isOwner: boolean }
  | { readonly kind: 'prepare'; readonly isOwner: boolean }
  | { readonly kind: 'complete'; readonly isOwner: boolean }
  | { readonly kind: 'free'; readonly isOwner: boolean }
  | { readonly kind: 'takeOver'; readonly reply: TakeOverReply }
  | { readonly kind: 'readClaim'; readonly claim: Claim | undefined }
  | { readonly kind: 'credit'; readonly reply: CreditReply }
  | { readonly kind: 'readCredits'; readonly records: readonly CreditRecord[] };

export type Kind = Op['kind'];
export type AnswerTo<K extends Kind> = Extract<Answer, { readonly kind: K }>;

/** Reply to a call. `unavailable`: the call may have been executed. `throttled`: it was not executed. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'unavailable' | 'throttled' };

const withoutStore: ReadonlySet<Kind> = new Set(['start', 'vendor', 'timer']);
const reads: ReadonlySet<Kind> = new Set([
  'readAccount',
  'readRecord',
  'due',
  'readNote',
  'listNotes',
  'readClaim',
  'readCredits',
]);

/** Whether a call goes to a store, so that a fault can affect it. */
export const goesToStore = ({ kind }: Op): boolean => !withoutStore.has(kind);

/** Whether the execution of a call changes the world. */
export const isWrite = ({ kind }: Op): boolean => !withoutStore.has(kind) && !reads.has(kind);

/**
 * Whether a call changes nothing and its reply is permanent. Records never change, and without an outbox no entry
 * appears.
 */
export const isSettledFor = (op: Op, records: ReadonlyMap<string, ChargeRecord>, outbox: boolean): boolean => {
  if (op.kind === 'putRecord') return records.has(op.record.holdId);
  if (op.kind === 'readRecord') return records.has(op.holdId);
  return op.kind === 'readNote' && !outbox;
};

export const requestOf = (holdId: string): string => holdId.slice(0, holdId.lastIndexOf('.'));

const inPeriod = (cap: CapCondition | undefined): string => {
  if (!cap) return '';
  const ends = cap.ends === undefined ? '' : `, which ends ${cap.ends}`;
  return ` in ${cap.period ?? 'no cap'}${ends}`;
};

/** Short description of a call for a trace. */
export const describe = (op: Op): string => {
  switch (op.kind) {
    case 'hold':
      return `hold ${op.request.holdId}${inPeriod(op.request.cap)}`;
    case 'putRecord':
      return `record ${op.record.holdId} ${op.record.outcome}${op.record.answer === undefined ? '' : ' with a response'}`;
    case 'apply':
      return `apply ${op.record.holdId} ${op.record.outcome}`;
    case 'readRecord':
      return `read record ${op.holdId}`;
    case 'credit':
      return `${op.request.type ?? 'credit'} ${op.request.ref}`;
    case 'reschedule':
      return op.sweepAtMs === undefined ? 'remove account from the sweep list' : 'set the next sweep';
    case 'putNote':
      return `write outbox entry ${op.note.record.holdId}`;
    case 'readNote':
      return `read outbox entry ${op.holdId}`;
    case 'removeNote':
      return `remove outbox entry ${op.holdId}`;
    default:
      return names[op.kind];
  }
};

const names = {
  start: 'begins',
  vendor: 'provider responds',
  timer: 'timer',
  readAccount: 'read account',
  due: 'list due accounts',
  sweepBy: 'sweep earlier',
  listNotes: 'list outbox entries',
  claim: 'claim key',
  renew: 'renew lease',
  prepare: 'stage response',
  complete: 'complete claim',
  free: 'free claim',
  takeOver: 'take over claim',
  readClaim: 'read claim',
  readCredits: 'read credits',
} as const;
