import {
  type Cap,
  type CapCondition,
  type Caps,
  type HoldCap,
  isPeriodName,
  parsePeriod,
  periodNameOf,
  toCap,
} from '../../core/ledger/caps.ts';
import { type Item, optionalText, readBigint, readMap, readText, type Value } from './item.ts';

/** Part of an update of the account item. */
export interface CapUpdate {
  /** Actions of the SET clause, each with a comma before it. */
  readonly set: string;
  /** Conditions, each with an AND before it. */
  readonly condition: string;
  /** Paths of the REMOVE clause. Absent without any. */
  readonly removed?: readonly string[];
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

const NONE: CapUpdate = { set: '', condition: '', names: {}, values: {} };

const namesOf = (keyId: string) => ({ '#cap': keyId, '#left': 'left', '#period': 'period' });

/** Returns the part of a hold that takes `:amount` from the cap of the API key, as `holdInCap` computes it. */
export const toCapHold = (condition: CapCondition | undefined, amountPicos: bigint): CapUpdate => {
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
  return toCapMove({ ...condition, period, ends }, amountPicos);
};

/** The period that the cap leaves is kept under its name. */
const toCapMove = (
  { keyId, period, ends, start, forgets = [] }: CapCondition & { readonly period: string; readonly ends: string },
  amountPicos: bigint,
): CapUpdate => {
  const { left, condition, values, removed, names } = toStart(start, amountPicos);
  const forgotten = forgets.map((name, index) => [`#forgotten${index}`, name] as const);
  return {
    set: `, caps.#cap.#left = ${left}, caps.#cap.#period = :period, caps.#cap.#ended = caps.#cap.#left`,
    condition: ` AND caps.#cap.#period = :ends AND ${condition}`,
    removed: [...removed, ...forgotten.map(([placeholder]) => `caps.#cap.${placeholder}`)],
    names: {
      ...namesOf(keyId),
      '#started': periodNameOf(period),
      '#ended': periodNameOf(ends),
      ...names,
      ...Object.fromEntries(forgotten),
    },
    values: { ':period': period, ':ends': ends, ...values },
  };
};

const IS_NOT_KEPT = 'attribute_not_exists(caps.#cap.#started)';

interface StartParts {
  /** Expression for what is left after the hold. */
  readonly left: string;
  readonly condition: string;
  readonly removed: readonly string[];
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}

const toStart = (start: CapCondition['start'], amountPicos: bigint): StartParts => {
  if (start === 'kept') {
    const [left, condition] = ['caps.#cap.#started - :amount', 'caps.#cap.#started >= :amount'];
    return { left, condition, removed: ['caps.#cap.#started'], names: {}, values: {} };
  }
  if (start === undefined) {
    const condition = `caps.#cap.#limit >= :amount AND ${IS_NOT_KEPT}`;
    return { left: 'caps.#cap.#limit - :amount', condition, removed: [], names: { '#limit': 'limit' }, values: {} };
  }
  const { leftPicos, seenPicos } = start;
  return {
    left: 'caps.#cap.#left - :less',
    condition: `caps.#cap.#left = :seen AND caps.#cap.#left >= :less AND ${IS_NOT_KEPT}`,
    removed: [],
    names: {},
    values: { ':seen': seenPicos, ':less': seenPicos - leftPicos + amountPicos },
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

/** Returns the names and values of a hold whose period is not the present one of its cap. */
const ofOtherPeriod = ({ keyId, period }: HoldCap) => ({
  names: { '#cap': keyId, '#period': 'period', '#kept': periodNameOf(period) },
  values: { ':period': period, ':epoch': period.slice(0, period.indexOf(':') + 1) },
});

/** Returns the part of a closed hold that adds `:back` to the period of the hold, which its cap keeps. */
export const toKeptReturn = (cap: HoldCap): CapUpdate => ({
  set: ', caps.#cap.#kept = caps.#cap.#kept + :back',
  condition:
    ' AND caps.#cap.#period <> :period AND begins_with(caps.#cap.#period, :epoch) AND attribute_exists(caps.#cap.#kept)',
  ...ofOtherPeriod(cap),
});

/** Returns the part of a closed hold that leaves the cap, because the cap has forgotten the period of the hold. */
export const toCapLeft = (cap: HoldCap): CapUpdate => ({
  set: '',
  condition:
    ' AND (attribute_not_exists(caps.#cap) OR NOT begins_with(caps.#cap.#period, :epoch)' +
    ' OR (caps.#cap.#period <> :period AND attribute_not_exists(caps.#cap.#kept)))',
  ...ofOtherPeriod(cap),
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

const toCapValue = ({ limitPicos, leftPicos, period, kept }: Cap): Item => ({
  limit: limitPicos,
  left: leftPicos,
  period,
  ...(kept && Object.fromEntries(kept)),
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
    const names = Object.keys(cap).filter(isPeriodName);
    const kept = new Map(names.map((name) => [name, readBigint(cap, name)] as const));
    return toCap(readBigint(cap, 'limit'), readBigint(cap, 'left'), readText(cap, 'period'), kept);
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
