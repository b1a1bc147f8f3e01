import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import type { LedgerStore } from '../../../lambdas/core/ledger/ledger.ts';
import { ledgerThrough } from './every-call.ts';

/** Numbers that decide every random choice of a history. After the last one, every choice is 0, the simplest. */
export class Choices {
  readonly #numbers: readonly number[];
  #used = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** Returns a number from 0 to `count - 1`. */
  next(count: number): number {
    const number = this.#numbers[this.#used] ?? 0;
    this.#used += 1;
    return number % count;
  }
}

type Step = () => Promise<void>;

/** Operations that make up one call. */
interface Call {
  readonly execute: () => Promise<unknown>;
  /** Executes the call and answers it. */
  readonly once: () => Promise<void>;
  readonly refuse: (kind: StoreError['kind']) => void;
}

const troubles = ['fails', 'throttled', 'conflict', 'loses-reply', 'lands-late', 'repeated'] as const;
/** A call has this many choices. One of them per trouble causes that trouble, and the others cause none. */
const CALLS = 16;
type Trouble = (typeof troubles)[number];

/**
 * Store in which anything else can happen between two calls, and between a write and its reply. `choices` decides step
 * by step which fault occurs and which step is next. A hold is never executed twice, but it can be executed late.
 */
export class InterleavedStore {
  readonly #store: LedgerStore;
  readonly #choices: Choices;
  readonly #afterEachWrite: (method: string) => void;
  readonly #dead = new Set<string>();
  #steps: Step[] = [];
  #muchLater: Step[] = [];

  constructor(store: LedgerStore, choices: Choices, afterEachWrite: (method: string) => void) {
    this.#store = store;
    this.#choices = choices;
    this.#afterEachWrite = afterEachWrite;
  }

  /** Number of steps that can run next. */
  get waiting(): number {
    return this.#steps.length;
  }

  async run(index: number): Promise<void> {
    const [step] = this.#steps.splice(index, 1);
    await step?.();
  }

  /** Adds the steps that were postponed until after all others. */
  comeMuchLater(): void {
    this.#steps.push(...this.#muchLater);
    this.#muchLater = [];
  }

  /** Stops the replies to this process, and its further calls. Calls that it has already sent are still executed. */
  kill(process: string): void {
    this.#dead.add(process);
  }

  /** Returns the store as this process sees it. */
  seenBy(process: string): LedgerStore {
    return ledgerThrough(this.#callOf(process), this.#store);
  }

  #callOf(process: string): <T>(method: string, write: () => Promise<T>) => Promise<T> {
    return (method, write) =>
      new Promise((resolve, reject) => {
        if (this.#dead.has(process)) return;
        const tell = (answer: () => void) =>
          this.#steps.push(async () => {
            if (!this.#dead.has(process)) answer();
          });
        const execute = async () => {
          const reply = await write();
          this.#afterEachWrite(method);
          return reply;
        };
        this.#steps.push(() =>
          this.#happen(this.#trouble(method), {
            execute,
            once: async () => {
              const reply = await execute();
              tell(() => resolve(reply));
            },
            refuse: (kind) => tell(() => reject(new StoreError(kind, 'as chosen'))),
          }),
        );
      });
  }

  #trouble(method: string): Trouble | undefined {
    const trouble = troubles[this.#choices.next(CALLS) - (CALLS - troubles.length)];
    return trouble === 'repeated' && method === 'hold' ? undefined : trouble;
  }

  async #happen(trouble: Trouble | undefined, call: Call): Promise<void> {
    switch (trouble) {
      case 'throttled':
      case 'conflict':
        return call.refuse(trouble);
      case 'fails':
        return call.refuse('unavailable');
      case 'loses-reply':
        await call.execute();
        return call.refuse('unavailable');
      case 'lands-late':
        call.refuse('unavailable');
        return this.#later(call);
      case 'repeated':
        await call.once();
        return this.#later(call);
      case undefined:
        return call.once();
    }
  }

  #later({ execute }: Call): void {
    const steps = this.#choices.next(2) === 0 ? this.#steps : this.#muchLater;
    steps.push(async () => {
      await execute();
    });
  }
}
