import type { Op } from './operations.ts';
import type { Body, Told } from './run-actor.ts';
import type { World } from './world.ts';

export interface Actor {
  readonly name: string;
  readonly body: Body;
  /** Actors with the same program are the same but for their names: which of them did what makes no difference. */
  readonly program?: string;
  /** Calls that the store never takes, whatever the budget of faults. */
  readonly refused?: (op: Op) => boolean;
}

/** One small case, to be searched through. */
export interface Configuration {
  readonly id: string;
  readonly title: string;
  readonly actors: readonly Actor[];
  readonly world: World;
  /** Unix milliseconds. Time goes from one to the next whenever it likes. */
  readonly timesMs: readonly number[];
  readonly faults: number;
  readonly crashes: number;
  /** Too large to be searched to its end: as far as states and time allow. */
  readonly partial?: boolean;
  /** Whether an answer may reach a process, or wake it, later than the call was executed. */
  readonly lateReplies?: boolean;
  /** Whether notes can be left. The search says so when one is and this is not set. */
  readonly outbox?: boolean;
  readonly timers?: boolean;
  /** Nobody should be told that money is short. */
  readonly enoughMoney?: boolean;
  /** Request ids that stand under the one key. */
  readonly idempotent?: readonly string[];
  /** Names what is known and told, where it is no violation. */
  readonly documented?: (told: Told) => string | undefined;
}
