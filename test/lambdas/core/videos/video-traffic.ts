import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { Choices } from '../../../support/memory/interleaved-store.ts';

type Step = () => Promise<void>;

const troubles = ['fails', 'throttled', 'loses-reply', 'lands-late', 'repeated'] as const;
/** Each kind of fault hits one call out of this many. */
const CALLS = 20;

/** Restricts the faults of a call. */
export interface CallRules {
  /** Executed at most once, because its content can be read only once or its contract forbids to send it again. */
  readonly once?: boolean;
  /** Executed immediately or never. */
  readonly prompt?: boolean;
  /** Creates the error that the caller gets without a response. */
  readonly noAnswer?: () => Error;
}

const storeIsSilent = (): Error => new StoreError('unavailable', 'as chosen');

/** Delayed steps of a sleeping process. */
interface Sleeper {
  readonly steps: Step[];
}

/**
 * All calls of many processes to everything outside them. Anything else may happen between two calls, and between a
 * call and its response. Processes die, or sleep and wake much later. `Choices` decides step by step which calls fail
 * and what happens next.
 */
export class VideoTraffic {
  readonly #choices: Choices;
  readonly #dead = new Set<string>();
  readonly #asleep = new Map<string, Sleeper>();
  readonly #fuses = new Map<string, { left: number; readonly onDeath: () => void }>();
  readonly #naps = new Map<string, number>();
  readonly #outages = new Map<string, number>();
  #steps: Step[] = [];
  #muchLater: Step[] = [];
  #healed = false;

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  /** Number of steps that can run next. */
  get waiting(): number {
    return this.#steps.length;
  }

  async run(index: number): Promise<void> {
    const [step] = this.#steps.splice(index, 1);
    await step?.();
  }

  /** Ends all faults, wakes all sleepers, and schedules the steps that were held back until now. */
  heal(): void {
    this.#healed = true;
    this.#fuses.clear();
    for (const process of this.#asleep.keys()) this.wake(process);
    this.#steps.push(...this.#muchLater);
    this.#muchLater = [];
  }

  /** Ends a process: it gets no more responses, but the calls it has sent are still executed. */
  kill(process: string): void {
    this.#dead.add(process);
  }

  /** Ends a process at its n-th call from now, before the call is sent. */
  killAt(process: string, calls: number, onDeath: () => void): void {
    this.#fuses.set(process, { left: calls, onDeath });
  }

  /** Fails the next calls of a process, so many that it stops retrying. */
  cutOff(process: string, calls: number): void {
    this.#outages.set(process, calls);
  }

  /**
   * Puts a process to sleep at its n-th call from now, either before the call is sent or before its response arrives.
   */
  sleepAt(process: string, calls: number): void {
    this.#naps.set(process, calls);
  }

  /** Holds back all calls and responses of a process until it wakes. */
  sleep(process: string): void {
    if (!this.#healed && !this.#asleep.has(process)) this.#asleep.set(process, { steps: [] });
  }

  wake(process: string): void {
    const sleeper = this.#asleep.get(process);
    this.#asleep.delete(process);
    if (sleeper) this.#steps.push(...sleeper.steps);
  }

  sleepers(): readonly string[] {
    return [...this.#asleep.keys()];
  }

  /** Makes one call of a process. */
  call<T>(process: string, execute: () => Promise<T>, rules: CallRules = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#dead.has(process) || this.#burns(process)) return;
      const tell = (answer: () => void): void =>
        this.#add(process, async () => {
          if (!this.#dead.has(process)) answer();
        });
      const once = async (): Promise<void> => {
        try {
          const reply = await execute();
          tell(() => resolve(reply));
        } catch (error) {
          tell(() => reject(error));
        }
      };
      const refuse = (error: Error): void => tell(() => reject(error));
      const isTired = this.#isTired(process);
      if (isTired && this.#choices.next(2) === 0) this.sleep(process);
      this.#add(process, () => this.#happen(process, rules, { execute, once, refuse }));
      if (isTired) this.sleep(process);
    });
  }

  #isTired(process: string): boolean {
    const left = (this.#naps.get(process) ?? 0) - 1;
    this.#naps.set(process, left);
    return left === 0;
  }

  #add(process: string, step: Step): void {
    const sleeper = this.#asleep.get(process);
    if (!sleeper) {
      this.#steps.push(step);
      return;
    }
    // A real call may have been sent before its process fell asleep. Here the call is sent when the process wakes.
    sleeper.steps.push(step);
  }

  #burns(process: string): boolean {
    const fuse = this.#fuses.get(process);
    if (!fuse) return false;
    fuse.left -= 1;
    if (fuse.left > 0) return false;
    this.#fuses.delete(process);
    this.kill(process);
    fuse.onDeath();
    return true;
  }

  #trouble(process: string, { once, prompt }: CallRules): (typeof troubles)[number] | undefined {
    if (this.#healed) return undefined;
    const trouble = this.#outageOf(process) ?? troubles[this.#choices.next(CALLS) - (CALLS - troubles.length)];
    if (trouble === 'repeated' && once) return undefined;
    return trouble === 'lands-late' && prompt ? 'fails' : trouble;
  }

  #outageOf(process: string): (typeof troubles)[number] | undefined {
    const left = this.#outages.get(process) ?? 0;
    if (left <= 0) return undefined;
    this.#outages.set(process, left - 1);
    return (['fails', 'fails', 'loses-reply', 'lands-late'] as const)[this.#choices.next(4)];
  }

  async #happen(process: string, rules: CallRules, { execute, once, refuse }: Happening): Promise<void> {
    const noAnswer = (rules.noAnswer ?? storeIsSilent)();
    switch (this.#trouble(process, rules)) {
      case 'fails':
        return refuse(noAnswer);
      case 'throttled':
        return refuse(rules.noAnswer ? noAnswer : new StoreError('throttled', 'as chosen'));
      case 'loses-reply':
        await execute().catch(() => undefined);
        return refuse(noAnswer);
      case 'lands-late':
        refuse(noAnswer);
        return this.#later(execute);
      case 'repeated':
        await once();
        return this.#later(execute);
      case undefined:
        return once();
    }
  }

  #later(execute: () => Promise<unknown>): void {
    const steps = this.#choices.next(2) === 0 ? this.#steps : this.#muchLater;
    steps.push(async () => {
      await execute().catch(() => undefined);
    });
  }
}

interface Happening {
  readonly execute: () => Promise<unknown>;
  /** Executes the call and returns its result to the process. */
  readonly once: () => Promise<void>;
  readonly refuse: (error: Error) => void;
}
