import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import type { LedgerStore } from '../../../lambdas/core/ledger/ledger.ts';
import { ledgerThrough } from './every-call.ts';

/** A list of numbers that decides everything random in a history. When it is used up, the plainest choice is made: 0. */
export class Choices {
  readonly #numbers: readonly number[];
  #used = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** 0 to below `count`. */
  next(count: number): number {
    const number = this.#numbers[this.#used] ?? 0;
    this.#used += 1;
    return number % count;
  }
}

type Step = () => Promise<void>;

/** The ways one call can go. */
interface Call {
  readonly execute: () => Promise<unknown>;
  /** Executed and answered. */
  readonly once: () => Promise<void>;
  readonly refuse: (kind: StoreError['kind']) => void;
}

const troubles = ['fails', 'throttled', 'conflict', 'loses-reply', 'lands-late', 'repeated'] as const;
/** Of this many calls, one for each trouble goes wrong. */
const CALLS = 16;
type Trouble = (typeof troubles)[number];

/**
 * A store between whose calls, and between each write and its answer, anything else may happen. What goes wrong and what
 * happens next is chosen step by step. A hold is never executed twice; it may be executed late.
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

  /** How many steps could be the next. */
  get waiting(): number {
    return this.#steps.length;
  }

  async run(index: number): Promise<void> {
    const [step] = this.#steps.splice(index, 1);
    await step?.();
  }

  /** Brings back what was to happen after everything else. */
  comeMuchLater(): void {
    this.#steps.push(...this.#muchLater);
    this.#muchLater = [];
  }

  /** From now on nothing is heard of this process; what it sent is still executed. */
  kill(process: string): void {
    this.#dead.add(process);
  }

  /** The store as one process sees it. */
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
