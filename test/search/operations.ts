import type {
  Claim,
  ClaimReply,
  ClaimRequest,
  ClaimStore,
  PreparedAnswer,
} from '../../lambdas/core/idempotency/claim-store.ts';
import type {
  Account,
  ChargeRecord,
  Due,
  HoldRequest,
  OutboxEntry,
  RecordReply,
} from '../../lambdas/core/ledger/ledger.ts';

export type TakeOver = Parameters<ClaimStore['takeOver']>[0];
export type TakeOverReply = Awaited<ReturnType<ClaimStore['takeOver']>>;

/** How a vendor can answer. */
export type Served = 'good' | 'failed' | 'refused';

/** What an actor waits for: a call to a store, a vendor, a timer, or its own first step. */
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
  | { readonly kind: 'reschedule'; readonly sweepAtMs: number | undefined }
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
  | { readonly kind: 'readClaim' };

export type Answer =
  | { readonly kind: 'start' }
  | { readonly kind: 'timer' }
  | { readonly kind: 'reschedule' }
  | { readonly kind: 'putNote' }
  | { readonly kind: 'removeNote' }
  | { readonly kind: 'vendor'; readonly served: Served }
  /** An account only where the protocols may look at it. */
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
  | { readonly kind: 'readClaim'; readonly claim: Claim | undefined };

export type Kind = Op['kind'];
export type AnswerTo<K extends Kind> = Extract<Answer, { readonly kind: K }>;

/** What comes back from a call. `unavailable` leaves open whether it was executed, `throttled` says that it was not. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'unavailable' | 'throttled' };

const withoutStore: ReadonlySet<Kind> = new Set(['start', 'vendor', 'timer']);
const reads: ReadonlySet<Kind> = new Set(['readAccount', 'readRecord', 'due', 'readNote', 'listNotes', 'readClaim']);

/** Whether a fault can happen to it. */
export const goesToStore = ({ kind }: Op): boolean => !withoutStore.has(kind);

/** Whether it makes a difference that it is executed. */
export const isWrite = ({ kind }: Op): boolean => !withoutStore.has(kind) && !reads.has(kind);

/** Whether its answer is the same for ever and it changes nothing: no record is ever changed, and without an outbox no note comes. */
export const isSettledFor = (op: Op, records: ReadonlyMap<string, ChargeRecord>, outbox: boolean): boolean => {
  if (op.kind === 'putRecord') return records.has(op.record.holdId);
  if (op.kind === 'readRecord') return records.has(op.holdId);
  return op.kind === 'readNote' && !outbox;
};

export const requestOf = (holdId: string): string => holdId.slice(0, holdId.lastIndexOf('.'));

/** In a few words, for a trace. */
export const describe = (op: Op): string => {
  switch (op.kind) {
    case 'hold':
      return `hold ${op.request.holdId}`;
    case 'putRecord':
      return `record ${op.record.holdId} ${op.record.outcome}${op.record.answer === undefined ? '' : ' with an answer'}`;
    case 'apply':
      return `apply ${op.record.holdId} ${op.record.outcome}`;
    case 'readRecord':
      return `read record ${op.holdId}`;
    case 'reschedule':
      return op.sweepAtMs === undefined ? 'take off the sweep list' : 'set the next sweep';
    case 'putNote':
      return `leave note ${op.note.record.holdId}`;
    case 'readNote':
      return `look for note ${op.holdId}`;
    case 'removeNote':
      return `remove note ${op.holdId}`;
    default:
      return names[op.kind];
  }
};

const names = {
  start: 'begins',
  vendor: 'vendor answers',
  timer: 'timer',
  readAccount: 'read account',
  due: 'ask who is due',
  listNotes: 'list notes',
  claim: 'claim key',
  renew: 'renew lease',
  prepare: 'prepare answer',
  complete: 'complete claim',
  free: 'free claim',
  takeOver: 'take key over',
  readClaim: 'read claim',
} as const;
