import type { Clock } from '../../lambdas/core/clock.ts';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import type { Interned } from './canonical.ts';
import type { Answer, Op, Reply } from './operations.ts';

/** Final result of a client's request. Sweepers and workers have none. */
export interface ClientResult {
  readonly requestId: string;
  readonly kind: 'success' | 'error';
  /** Body of a success, or code of an error. */
  readonly content: string;
  /** Kinds of calls for which the last call had no definite reply. */
  readonly unanswered?: readonly string[];
}

/** Environment of an actor. */
export interface Host {
  readonly clock: Clock;
  /** Resolves with the reply that the search chooses. Rejects with a StoreError if there is no definite reply. */
  call(op: Op): Promise<Answer>;
  /** Reports a result before the actor ends, such as a stream. Only the first result counts. */
  tell(returned: ClientResult): void;
}

/** Real code with dependencies that use the host. Any error that it throws is a bug of the code or of the search. */
export type Body = (host: Host) => Promise<ClientResult | undefined>;

export interface Pending {
  /** Number of the call within its actor. */
  readonly call: number;
  readonly op: number;
}

/** A reply to a pending call, with the time at which the actor receives it. */
export interface Event {
  readonly call: number;
  readonly reply: number;
  readonly time: number;
}

/** State that the runs of all actors share. */
interface Known {
  readonly ops: Interned<Op>;
  readonly replies: Interned<Reply>;
  readonly timesMs: readonly number[];
  /** Whether timers longer than a retry pause fire. */
  readonly timers: boolean;
}

interface Call {
  readonly op: Op;
  readonly answer: (reply: Reply) => void;
  waiting: boolean;
}

/** Skips stack traces: creating them takes longer than the rest of the search. */
const withoutStack = <T>(make: () => T): T => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const made = make();
  Error.stackTraceLimit = limit;
  return made;
};

/** Retry pauses are shorter, and end immediately. */
const PAUSE_MAX_MS = 400;

/** Limits of store calls are shorter, and never fire: a missing reply of the search has the same effect. */
const LIMIT_MAX_MS = 5_000;

/** One run of an actor. */
export class Run {
  returned: ClientResult | undefined;
  ended = false;
  bug: unknown;
  readClock = false;
  readKind = false;
  readonly #graph: Known;
  readonly #calls: Call[] = [];
  readonly #unanswered = new Set<string>();
  #time = 0;
  #segment = 0;

  constructor(graph: Known) {
    this.#graph = graph;
  }

  get pending(): readonly Pending[] {
    return this.#calls.flatMap(({ waiting, op }, call) =>
      waiting ? [{ call, op: this.#graph.ops.numberOf(op) }] : [],
    );
  }

  begin(body: Body): void {
    const host = {
      clock: this.#clock(),
      call: (op: Op) => this.#call(op),
      tell: (returned: ClientResult) => this.#tell(returned),
    };
    host
      .call({ kind: 'start' })
      .then(() => body(host))
      .then((returned) => returned && this.#tell(returned))
      .then(
        () => {
          this.ended = true;
        },
        (error: unknown) => {
          this.bug = error ?? new Error('an actor threw nothing');
        },
      );
  }

  /** Replies to one pending call. The effect is visible in the next turn of the event loop. */
  answer({ call, reply, time }: Event): void {
    const waiting = this.#calls[call];
    if (!waiting?.waiting) throw new Error('an actor behaves differently after the same replies');
    waiting.waiting = false;
    this.#time = time;
    this.#segment += 1;
    this.readClock = false;
    this.readKind = false;
    waiting.answer(this.#graph.replies.at(reply));
  }

  #tell(returned: ClientResult): void {
    if (this.returned) return;
    const unanswered = [...this.#unanswered].sort();
    this.returned = returned.kind === 'error' && unanswered.length > 0 ? { ...returned, unanswered } : returned;
  }

  #call(op: Op): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answer = (reply: Reply): void => {
        if (reply.kind === 'answer') this.#unanswered.delete(op.kind);
        else this.#unanswered.add(op.kind);
        if (reply.kind === 'answer') resolve(reply.answer);
        else reject(this.#storeError(reply.kind));
      };
      this.#calls.push({ op, answer, waiting: true });
    });
  }

  /**
   * Detects reads of the error kind. A read after the next reply throws, because the search could no longer take it
   * into account.
   */
  #storeError(kind: StoreError['kind']): StoreError {
    const error = withoutStack(() => new StoreError(kind, 'as chosen'));
    const segment = this.#segment;
    const read = (): StoreError['kind'] => {
      if (segment !== this.#segment) throw new Error('the kind of an error was read too late');
      this.readKind = true;
      return kind;
    };
    return Object.defineProperty(error, 'kind', { get: read });
  }

  #clock(): Clock {
    const now = (): number => {
      this.readClock = true;
      return this.#graph.timesMs[this.#time] ?? 0;
    };
    return {
      now,
      after: (delayMs, callback) => {
        if (delayMs <= PAUSE_MAX_MS) {
          let cancelled = false;
          queueMicrotask(() => {
            if (!cancelled) callback();
          });
          return () => {
            cancelled = true;
          };
        }
        if (delayMs <= LIMIT_MAX_MS || !this.#graph.timers) return () => undefined;
        const timer: Call = { op: { kind: 'timer', dueMs: now() + delayMs }, answer: callback, waiting: true };
        this.#calls.push(timer);
        return () => {
          timer.waiting = false;
        };
      },
    };
  }
}
