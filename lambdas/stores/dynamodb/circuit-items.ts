import type { CircuitKey, Opening } from '../../core/circuit/circuit.ts';
import type { BucketCount, CircuitState } from '../../core/circuit/circuit-store.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';

export const stateId = ({ providerId, modelId }: CircuitKey): string => `circuit#${providerId}#${modelId}`;
export const bucketId = (key: CircuitKey, startMs: number): string => `${stateId(key)}#${startMs}`;
export const quarantineId = (modelId: string): string => `quarantine#${modelId}`;
export const missingId = (modelId: string, startMs: number): string => `${quarantineId(modelId)}#${startMs}`;

/** Time to live is told in whole seconds. */
export const seconds = (ms: number): number => Math.ceil(ms / 1_000);

/** Undefined once nobody has touched it for long: the item itself may stand for days more. */
export const toState = (item: Item | undefined, nowMs: number): CircuitState | undefined => {
  if (!item || readNumber(item, 'expiresAt') <= nowMs / 1_000) return undefined;
  return {
    openUntilMs: readNumber(item, 'openUntil'),
    openings: readNumber(item, 'timesOpened'),
    goodProbes: readNumber(item, 'goodProbes'),
    probe: item.probedBy && { owner: readText(item, 'probedBy'), leaseUntilMs: readNumber(item, 'leaseUntil') },
  };
};

export const openingValues = ({ openUntilMs, openings, goodProbes }: Opening, expiresAtMs: number): Item => ({
  ':openUntil': number(openUntilMs),
  ':openings': number(openings),
  ':goodProbes': number(goodProbes),
  ':expiresAt': number(seconds(expiresAtMs)),
});

/** Goes with `openingValues`. */
export const setOpening =
  'SET openUntil = :openUntil, timesOpened = :openings, goodProbes = :goodProbes, expiresAt = :expiresAt';

/** A bucket that has no item has had no calls. */
export const toBucket = (item: Item | undefined, startMs: number): BucketCount => ({
  startMs,
  failures: item ? readNumber(item, 'failedCalls') : 0,
  successes: item ? readNumber(item, 'goodCalls') : 0,
  accounts: item?.failedAccounts?.SS ?? [],
});

export const keyOf = (id: string): Item => ({ pk: text(id) });
