import type { Model } from '../catalog/schema.ts';

/** What a request would reserve, found out without reserving it (BILL-16). */
export interface DryRun {
  readonly kind: 'dry_run';
  readonly model: Model;
  readonly holdPicos: bigint;
  /** Of each answer; undefined where answers have no length. */
  readonly outputTokensMax: number | undefined;
  /** Pico-USD for one of what is counted, such as a token. */
  readonly prices: Readonly<Record<string, bigint>>;
  /** Names of the request's fields that were ignored. */
  readonly ignored?: readonly string[] | undefined;
}
