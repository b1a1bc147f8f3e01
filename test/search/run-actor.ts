import type { Clock } from '../../lambdas/core/clock.ts';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import type { Interned } from './canonical.ts';
import type { Answer, Op, Reply } from './operations.ts';

/** What a client knows in the end. Actors that serve nobody are told nothing. */
export interface Told {
  readonly requestId: string;
  readonly kind: 'success' | 'error';
  /** The body of a success, the code of an error. */
  readonly content: string;
  /** Kinds of calls that had no definite answer to the last of them. */
  readonly unanswered?: readonly string[];
}

/** What an actor has of the world outside. */
export interface Host {
  readonly clock: Clock;
  /** Resolves when the search lets the call be answered; rejects with a StoreError when there was no definite answer. */
  call(op: Op): Promise<Answer>;
  /** Before the end, as with a stream. The first word counts. */
  tell(told: Told): void;
}

/** Real code on ports made of a host. What it throws is a bug of the code or of the search. */
export type Body = (host: Host) => Promise<Told | undefined>;

export interface Pending {
  /** Counts the calls of one actor. */
  readonly call: number;
  readonly op: number;
}

/** An answer to one of the calls, at a time. */
export interface Event {
  readonly call: number;
  readonly reply: number;
  readonly time: number;
}

/** What runs of all actors have in common. */
interface Known {
  readonly ops: Interned<Op>;
  readonly replies: Interned<Reply>;
  readonly timesMs: readonly number[];
  /** Whether timers that are longer than a pause between tries are ever heard of. */
  readonly timers: boolean;
}

interface Call {
  readonly op: Op;
  readonly answer: (reply: Reply) => void;
  waiting: boolean;
}

/** Nobody reads where an error of the search comes from, and to find it out takes longer than all the rest. */
const withoutStack = <T>(make: () => T): T => {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const made = make();
  Error.stackTraceLimit = limit;
  return made;
};

/** Pauses between tries are shorter, and over at once. */
const PAUSE_MAX_MS = 5_000;

/** One actor at work. */
export class Run {
  told: Told | undefined;
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
    const host = { clock: this.#clock(), call: (op: Op) => this.#call(op), tell: (told: Told) => this.#tell(told) };
    host
      .call({ kind: 'start' })
      .then(() => body(host))
      .then((told) => told && this.#tell(told))
      .then(
        () => {
          this.ended = true;
        },
        (error: unknown) => {
          this.bug = error ?? new Error('an actor threw nothing');
        },
      );
  }

  /** One answer to one of the calls, at a time. Nobody sees what comes of it before the next turn. */
  answer({ call, reply, time }: Event): void {
    const waiting = this.#calls[call];
    if (!waiting?.waiting) throw new Error('an actor does not do the same after the same answers');
    waiting.waiting = false;
    this.#time = time;
    this.#segment += 1;
    this.readClock = false;
    this.readKind = false;
    waiting.answer(this.#graph.replies.at(reply));
  }

  #tell(told: Told): void {
    if (this.told) return;
    const unanswered = [...this.#unanswered].sort();
    this.told = told.kind === 'error' && unanswered.length > 0 ? { ...told, unanswered } : told;
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

  /** Notices when its kind is asked for, which has to be at once: later the search could not tell that it mattered. */
  #storeError(kind: StoreError['kind']): StoreError {
    const error = withoutStack(() => new StoreError(kind, 'as chosen'));
    const segment = this.#segment;
    const read = (): StoreError['kind'] => {
      if (segment !== this.#segment) throw new Error('the kind of an error was asked for too late');
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
        if (!this.#graph.timers) return () => undefined;
        const timer: Call = { op: { kind: 'timer', dueMs: now() + delayMs }, answer: callback, waiting: true };
        this.#calls.push(timer);
        return () => {
          timer.waiting = false;
        };
      },
    };
  }
}
