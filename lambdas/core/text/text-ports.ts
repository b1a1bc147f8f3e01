import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { Provider } from '../catalog/schema.ts';
import type { LedgerPorts } from '../ledger/ledger-ports.ts';
import type { TextWire } from './text-wire.ts';

/** What the use case is told of itself: counted and alarmed, never decided on. */
export type TextNotice =
  | 'usage_missing'
  | 'usage_implausible'
  | 'overage'
  | 'late_settlement'
  | 'commit_failed'
  | 'apply_failed';

export interface TextPorts {
  readonly catalog: Catalog;
  readonly wires: ReadonlyMap<Wire, TextWire>;
  /** Whether this environment has an address and a key for the provider. */
  readonly reachable: (provider: Provider) => boolean;
  readonly ledger: LedgerPorts;
  readonly notice: (notice: TextNotice, requestId: string) => void;
  /** How long a hold outlives the upstream's deadline (BILL-13). */
  readonly holdGraceMs: number;
  /** Upper bound on the time an upstream gets, below the specification's own. */
  readonly upstreamDeadlineMs: number;
}

export interface Caller {
  readonly accountId: string;
  readonly requestId: string;
  /** Unix milliseconds at which this process must be done, if its host has such a limit. */
  readonly hostEndsAtMs: number | undefined;
}
