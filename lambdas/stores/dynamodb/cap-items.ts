import { type Cap, type CapCondition, type Caps, type HoldCap, parsePeriod, toCap } from '../../core/ledger/caps.ts';
import { type Item, optionalText, readBigint, readMap, readText, type Value } from './item.ts';

/** Part of an update of the account item. */
export interface CapUpdate {
  /** Actions of the SET clause, each with a comma before it. */
  readonly set: string;
  /** Conditions, each with an AND before it. */
  readonly condition: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

const NONE: CapUpdate = { set: '', condition: '', names: {}, values: {} };

const namesOf = (keyId: string) => ({ '#cap': keyId, '#left': 'left', '#period': 'period' });

/** Returns the part of a hold that takes `:amount` from the cap of the API key, as `holdInCap` computes it. */
export const toCapHold = (condition: CapCondition | undefined): CapUpdate => {
  if (!condition) return NONE;
  const { keyId, period, ends } = condition;
  if (period === undefined)
    return { ...NONE, condition: ' AND attribute_not_exists(caps.#cap)', names: { '#cap': keyId } };
  if (ends === undefined) {
    return {
      set: ', caps.#cap.#left = caps.#cap.#left - :amount',
      condition: ' AND caps.#cap.#period = :period AND caps.#cap.#left >= :amount',
      names: namesOf(keyId),
      values: { ':period': period },
    };
  }
  return {
    set: ', caps.#cap.#left = caps.#cap.#limit - :amount, caps.#cap.#period = :period',
    condition: ' AND caps.#cap.#period = :ends AND caps.#cap.#limit >= :amount',
    names: { ...namesOf(keyId), '#limit': 'limit' },
    values: { ':period': period, ':ends': ends },
  };
};

/** Returns the part of a closed hold that adds `:back` to its cap, if the period of the hold is the present one. */
export const toCapReturn = (cap: HoldCap | undefined): CapUpdate =>
  cap
    ? {
        set: ', caps.#cap.#left = caps.#cap.#left + :back',
        condition: ' AND caps.#cap.#period = :period',
        names: namesOf(cap.keyId),
        values: { ':period': cap.period },
      }
    : NONE;

/** Returns the part of a closed hold that leaves the cap, because the period of the hold is over and never returns. */
export const toCapLeft = ({ keyId, period }: HoldCap): CapUpdate => ({
  set: '',
  condition: ' AND (attribute_not_exists(caps.#cap) OR caps.#cap.#period <> :period)',
  names: { '#cap': keyId, '#period': 'period' },
  values: { ':period': period },
});

/** Part of an update with SET and REMOVE actions. */
interface CapReplacement {
  /** Actions of the SET clause, each with a comma before it. */
  readonly set: string;
  readonly removed: readonly string[];
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

/** Returns the part of an update, on the condition of the version, that replaces the caps that differ. */
export const toCapReplacement = (before: Caps, after: Caps): CapReplacement => {
  const changed = [...after].filter(([keyId, cap]) => before.get(keyId) !== cap);
  const gone = [...before.keys()].filter((keyId) => !after.has(keyId));
  if (changed.length + gone.length === 0) return { set: '', removed: [], names: {}, values: {} };
  // Only the removal of a revoked key leaves an empty map.
  if (after.size === 0) return { set: '', removed: ['caps'], names: {}, values: {} };
  if (before.size === 0)
    return { set: ', caps = :caps', removed: [], names: {}, values: { ':caps': toCapsValue(after) } };
  return {
    set: changed.map((_, index) => `, caps.#cap${index} = :cap${index}`).join(''),
    removed: gone.map((_, index) => `caps.#gone${index}`),
    names: Object.fromEntries([
      ...changed.map(([keyId], index) => [`#cap${index}`, keyId] as const),
      ...gone.map((keyId, index) => [`#gone${index}`, keyId] as const),
    ]),
    values: Object.fromEntries(changed.map(([, cap], index) => [`:cap${index}`, toCapValue(cap)])),
  };
};

const toCapsValue = (caps: Caps): Item => Object.fromEntries([...caps].map(([keyId, cap]) => [keyId, toCapValue(cap)]));

const toCapValue = ({ limitPicos, leftPicos, period }: Cap): Item => ({
  limit: limitPicos,
  left: leftPicos,
  period,
});

/** Reads the caps of an account item. An unreadable one is of a newer release: no hold counts in it. */
export const toCaps = (item: Item): Caps => {
  if (item.caps === undefined) return new Map();
  const caps = readMap(item, 'caps');
  return new Map(Object.keys(caps).map((keyId) => [keyId, capOf(caps, keyId)]));
};

const capOf = (caps: Item, keyId: string): Cap => {
  try {
    const cap = readMap(caps, keyId);
    return toCap(readBigint(cap, 'limit'), readBigint(cap, 'left'), readText(cap, 'period'));
  } catch {
    return toCap(0n, 0n, '');
  }
};

/** Value of the cap in which a hold counts, in a record or a video. */
export const holdCapValue = ({ keyId, period }: HoldCap): Item => ({ key: keyId, period });

/** Reads the cap in which a hold counts. Undefined if there is none, or one of a newer release. */
export const toHoldCap = (value: Value | undefined): HoldCap | undefined => {
  if (value === undefined) return undefined;
  const cap = readMap({ cap: value }, 'cap');
  const keyId = optionalText(cap, 'key');
  const period = optionalText(cap, 'period');
  return keyId !== undefined && period !== undefined && parsePeriod(period) ? { keyId, period } : undefined;
};
