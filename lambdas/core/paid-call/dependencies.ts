import type { Catalog } from '../catalog/catalog.ts';
import type { Provider } from '../catalog/schema.ts';
import type { Circuits } from '../circuit/circuit.ts';
import type { LedgerDependencies } from '../ledger/ledger.ts';
import type { DetachedDrains } from '../limits/detached-drains.ts';
import type { PaidEvent } from '../metrics.ts';

/** Dependencies of every paid use case. */
export interface PaidCallDependencies {
  readonly catalog: Catalog;
  /** Whether this environment has an address and a key for the provider. */
  readonly reachable: (provider: Provider) => boolean;
  readonly ledger: LedgerDependencies;
  readonly circuits: Circuits;
  readonly drains: DetachedDrains;
  readonly notice: (notice: PaidEvent, requestId: string) => void;
  /** How long a hold outlives the upstream's deadline (BILL-13). */
  readonly holdGraceMs: number;
  /** Upper bound on the time an upstream gets, below the specification's own. */
  readonly upstreamDeadlineMs: number;
}

/** Timeout of a front door for a response that it cannot start early. */
export interface AnswerBy {
  /** Unix milliseconds. */
  readonly atMs: number;
  /** Whether it is enough to have begun by then, or all of it must be there. */
  readonly covers: 'beginning' | 'all';
}

export interface Caller {
  readonly accountId: string;
  readonly requestId: string;
  /** Unix milliseconds at which this process must be done, if its host has such a limit. */
  readonly hostEndsAtMs: number | undefined;
  /** Undefined if there is no such timeout, or if the response always starts in time. */
  readonly answerBy?: AnswerBy | undefined;
}
