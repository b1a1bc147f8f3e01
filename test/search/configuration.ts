import type { Op } from './operations.ts';
import type { Body, ClientResult } from './run-actor.ts';
import type { World } from './world.ts';

export interface Actor {
  readonly name: string;
  readonly body: Body;
  /** Actors with the same program are interchangeable: the search does not distinguish which of them acted. */
  readonly program?: string;
  /** Calls that the store always rejects. They do not count as faults. */
  readonly refused?: (op: Op) => boolean;
}

/** A small case that the search explores completely. */
export interface Configuration {
  readonly id: string;
  readonly title: string;
  readonly actors: readonly Actor[];
  readonly world: World;
  /** Unix milliseconds. Time can advance to the next value in any state. */
  readonly timesMs: readonly number[];
  readonly faults: number;
  readonly crashes: number;
  /** Too large for a complete search. The search ends at the limit of states or minutes. */
  readonly partial?: boolean;
  /** Whether an actor can receive a reply later than the call was executed. */
  readonly lateReplies?: boolean;
  /** Whether actors can write outbox entries. Without it, an entry is an error of the search. */
  readonly outbox?: boolean;
  readonly timers?: boolean;
  /** Whether balance and cap cover every hold, so 402 is a violation. */
  readonly enoughMoney?: boolean;
  /** Ids of the requests that share the idempotency key. */
  readonly idempotent?: readonly string[];
  /** Returns the description of a documented exception, or undefined if the result is a violation. */
  readonly documented?: (returned: ClientResult) => string | undefined;
}
