import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { Choices } from '../../../support/memory/interleaved-store.ts';

type Step = () => Promise<void>;

const troubles = ['fails', 'throttled', 'loses-reply', 'lands-late', 'repeated'] as const;
/** Of this many calls, one for each trouble goes wrong. */
const CALLS = 20;

/** What may not go wrong in the same way everywhere. */
export interface CallRules {
  /** Executed at most once: its content can be taken once, or its port forbids to send it again. */
  readonly once?: boolean;
  /** Executed now or never. */
  readonly prompt?: boolean;
  /** What the caller is told when no answer came. */
  readonly noAnswer?: () => Error;
}

const storeIsSilent = (): Error => new StoreError('unavailable', 'as chosen');

/** The calls of one process, asleep. */
interface Sleeper {
  readonly steps: Step[];
}

/**
 * All calls of many processes to whatever lies outside of them. Between two calls, and between a call and its answer, anything else
 * may happen; processes die, or sleep and wake much later. What goes wrong and what happens next is chosen step by step.
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

  /** How many steps could be the next. */
  get waiting(): number {
    return this.#steps.length;
  }

  async run(index: number): Promise<void> {
    const [step] = this.#steps.splice(index, 1);
    await step?.();
  }

  /** From now on nothing goes wrong any more, whoever sleeps wakes, and what was to happen after everything else happens. */
  heal(): void {
    this.#healed = true;
    this.#fuses.clear();
    for (const process of this.#asleep.keys()) this.wake(process);
    this.#steps.push(...this.#muchLater);
    this.#muchLater = [];
  }

  /** From now on nothing is heard of this process; what it sent is still executed. */
  kill(process: string): void {
    this.#dead.add(process);
  }

  /** It dies at its n-th call from now, before that is sent. */
  killAt(process: string, calls: number, onDeath: () => void): void {
    this.#fuses.set(process, { left: calls, onDeath });
  }

  /** The next calls of this process bring no answer, so many that it gives up repeating them. */
  cutOff(process: string, calls: number): void {
    this.#outages.set(process, calls);
  }

  /** It falls asleep at its n-th call from now: before that is sent, or when it has been sent and is not answered. */
  sleepAt(process: string, calls: number): void {
    this.#naps.set(process, calls);
  }

  /** It sends nothing and hears nothing until it wakes. */
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

  /** One call of a process. */
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
    // It may have been sent before its process fell asleep; here it is sent after.
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
  /** Executed and answered. */
  readonly once: () => Promise<void>;
  readonly refuse: (error: Error) => void;
}
