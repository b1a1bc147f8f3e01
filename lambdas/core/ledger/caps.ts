import { movePeriod, type PeriodCounter, periodAt } from './period-counter.ts';

/** Period in which a cap limits the spending of an API key, in UTC. */
export type CapKind = 'total' | 'day' | 'month';

/** Spending cap of an API key (KEY-9). All amounts are pico-USD. */
export interface Cap {
  readonly limitPicos: bigint;
  /**
   * Limit less the charges and open holds of the period. Below 0 after a charge above its hold, or if the limit of an
   * earlier edit was higher.
   */
  readonly leftPicos: bigint;
  readonly kind: CapKind;
  /**
   * `<epoch>:<name>`, such as `12:2026-11-26`, `12:2026-11` or `12:total`. The epoch is the version of the account with
   * which the cap was set or got another kind. So holds of a replaced cap or of an earlier period never change this one.
   */
  readonly period: string;
  /**
   * Rests of other periods of the same epoch, in pico-USD, by their names: of the one before, and of later ones after a
   * clock was set back. Absent without any.
   */
  readonly kept?: ReadonlyMap<string, bigint>;
}

/** Caps of an account by the id of their API key. */
export type Caps = ReadonlyMap<string, Cap>;

/** Cap in which a hold and its charge count. */
export interface HoldCap {
  /** Id of the API key. */
  readonly keyId: string;
  /** Period of the cap, with its epoch. */
  readonly period: string;
}

/** Cap of an API key as its stored key names it. The account has the limit and the period. */
export interface KeyCap {
  readonly kind: CapKind;
  readonly epoch: number;
}

/** Cap of the API key of a request. */
export interface CapOfKey extends KeyCap {
  /** Id of the API key. */
  readonly keyId: string;
}

/** Condition of a hold on the caps of its account. */
export interface CapCondition {
  /** Id of the API key. */
  readonly keyId: string;
  /** Period in which the hold counts. Undefined: the API key has no cap. */
  readonly period: string | undefined;
  /** Present period of the cap, which the hold ends and the cap keeps. Undefined: the period of the hold has started. */
  readonly ends?: string;
  /** Rest at the start of the period. Undefined: the limit. `kept`: the rest of the period that the cap has kept. */
  readonly start?: 'kept' | CarriedStart;
  /** Names of the kept periods that the move forgets. */
  readonly forgets?: readonly string[];
}

/** Start of an earlier period, which takes over the charges of a later one. */
interface CarriedStart {
  /** Pico-USD. */
  readonly leftPicos: bigint;
  /** Required rest of the later period, in pico-USD, because open holds of it do not count in the earlier one. */
  readonly seenPicos: bigint;
}

/** Part of an account that decides about its caps. */
export interface CappedAccount {
  readonly caps: Caps;
  readonly holds: ReadonlyMap<string, { readonly amountPicos: bigint; readonly cap?: HoldCap }>;
}

const TOTAL = 'total';
const PERIOD_FORM = /^(\d+):(total|\d{4}-\d{2}(?:-\d{2})?)$/;
const MONTH_LENGTH = '2026-11'.length;
const DAY_LENGTH = '2026-11-26'.length;

const nameOf = (kind: CapKind, nowMs: number): string =>
  kind === 'total' ? TOTAL : new Date(nowMs).toISOString().slice(0, kind === 'day' ? DAY_LENGTH : MONTH_LENGTH);

const periodOf = (epoch: number, kind: CapKind, nowMs: number): string => `${epoch}:${nameOf(kind, nowMs)}`;

interface PeriodParts {
  readonly epoch: number;
  readonly name: string;
  readonly kind: CapKind;
}

/** Returns undefined for a period that this release cannot read. */
export const parsePeriod = (period: string): PeriodParts | undefined => {
  const [, epoch, name] = PERIOD_FORM.exec(period) ?? [];
  if (epoch === undefined || name === undefined) return undefined;
  const kind = name === TOTAL ? 'total' : name.length === DAY_LENGTH ? 'day' : 'month';
  return { epoch: Number(epoch), name, kind };
};

/** Reads a stored cap. One of a newer release has less than nothing left, so that no hold counts in it. */
export const toCap = (limitPicos: bigint, leftPicos: bigint, period: string, kept?: Cap['kept']): Cap => {
  const kind = parsePeriod(period)?.kind;
  if (!kind) return { limitPicos: 0n, leftPicos: -1n, kind: 'total', period };
  return { limitPicos, leftPicos, kind, period, ...(kept && kept.size > 0 && { kept }) };
};

/** Whether a text is the name of a period that a cap can keep. */
export const isPeriodName = (text: string): boolean => text !== TOTAL && parsePeriod(`0:${text}`) !== undefined;

/** Period of a cap by this clock. */
export const presentPeriod = ({ kind, period }: Cap, nowMs: number): string => {
  const parts = parsePeriod(period);
  return parts ? `${parts.epoch}:${periodAt(parts.name, nowMs, (atMs) => nameOf(kind, atMs))}` : period;
};

/** Returns the condition to try first, which depends on the stored key alone. Undefined if the key has no cap. */
export const firstCondition = (cap: CapOfKey | undefined, nowMs: number): CapCondition | undefined =>
  cap && { keyId: cap.keyId, period: periodOf(cap.epoch, cap.kind, nowMs) };

/** Returns the condition that fits the caps of an account. None fits a cap of a newer release. */
export const conditionFor = (account: CappedAccount, keyId: string, nowMs: number): CapCondition => {
  const cap = account.caps.get(keyId);
  if (!cap || !parsePeriod(cap.period)) return { keyId, period: undefined };
  const period = presentPeriod(cap, nowMs);
  if (period === cap.period) return { keyId, period };
  return { keyId, period, ends: cap.period, ...moveOf(cap, period, heldInCap(account, { keyId, period: cap.period })) };
};

/** Returns how a cap moves to a period. `heldPicos`: open holds of the present one. */
const moveOf = (cap: Cap, period: string, heldPicos: bigint): Pick<CapCondition, 'start' | 'forgets'> => {
  const { limitPicos, leftPicos, kept = new Map<string, bigint>() } = cap;
  const counter: PeriodCounter = {
    period: periodNameOf(cap.period),
    picos: limitPicos - leftPicos,
    kept: [...kept].map(([name, picos]) => ({ period: name, picos: limitPicos - picos })),
  };
  const moved = movePeriod(counter, periodNameOf(period), counter.picos - heldPicos);
  const stays = new Set([moved.period, ...moved.kept.map((count) => count.period)]);
  const forgets = [...kept.keys()].filter((name) => !stays.has(name));
  const start =
    moved.origin === 'carried' ? { leftPicos: limitPicos - moved.picos, seenPicos: leftPicos } : ('kept' as const);
  return { ...(moved.origin !== 'new' && { start }), ...(forgets.length > 0 && { forgets }) };
};

/** Returns the open holds that count in a period of a cap. */
export const holdsInCap = <Held extends { readonly cap?: HoldCap }>(
  holds: ReadonlyMap<string, Held>,
  { keyId, period }: HoldCap,
): readonly Held[] => [...holds.values()].filter(({ cap }) => cap?.keyId === keyId && cap.period === period);

const heldInCap = ({ holds }: CappedAccount, cap: HoldCap): bigint =>
  holdsInCap(holds, cap).reduce((sum, { amountPicos }) => sum + amountPicos, 0n);

export const isSameCondition = (one: CapCondition, other: CapCondition): boolean =>
  one.keyId === other.keyId && one.period === other.period && one.ends === other.ends;

/** Returns the amount that a hold with this condition can take, in pico-USD. Undefined if no cap limits it. */
export const leftFor = (caps: Caps, condition: CapCondition): bigint | undefined => {
  const cap = caps.get(condition.keyId);
  return cap && startOf(cap, condition);
};

/** Returns what is left before the hold. Undefined if the cap does not fit the condition. */
const startOf = (cap: Cap, { period = '', ends, start }: CapCondition): bigint | undefined => {
  if (ends === undefined) return cap.leftPicos;
  const kept = cap.kept?.get(periodNameOf(period));
  if (start === 'kept') return kept;
  if (kept !== undefined) return undefined;
  if (start === undefined) return cap.limitPicos;
  return cap.leftPicos === start.seenPicos ? start.leftPicos : undefined;
};

/** Returns the name of a period without its epoch. */
export const periodNameOf = (period: string): string => period.slice(period.indexOf(':') + 1);

/** Returns the cap in which a hold with this condition counts. Undefined if it counts in none. */
export const toHoldCap = (condition: CapCondition | undefined): HoldCap | undefined =>
  condition?.period === undefined ? undefined : { keyId: condition.keyId, period: condition.period };

/**
 * Returns the caps after a hold. Every store follows this function. Undefined if the condition does not hold, or the cap
 * does not cover the amount.
 */
export const holdInCap = (caps: Caps, condition: CapCondition | undefined, amountPicos: bigint): Caps | undefined => {
  if (!condition) return caps;
  const { keyId, period, ends } = condition;
  const cap = caps.get(keyId);
  if (!cap || period === undefined) return !cap && period === undefined ? caps : undefined;
  if (cap.period !== (ends ?? period)) return undefined;
  const startPicos = startOf(cap, condition);
  if (startPicos === undefined) return undefined;
  const leftPicos = startPicos - amountPicos;
  return leftPicos < 0n ? undefined : new Map(caps).set(keyId, toMoved(cap, condition, leftPicos));
};

const toMoved = (cap: Cap, { period = '', ends, forgets = [] }: CapCondition, leftPicos: bigint): Cap => {
  if (ends === undefined) return { ...cap, leftPicos };
  const kept = new Map(cap.kept).set(periodNameOf(ends), cap.leftPicos);
  for (const name of [periodNameOf(period), ...forgets]) kept.delete(name);
  return { ...cap, period, leftPicos, kept };
};

/**
 * Returns the caps after a hold was closed. `changePicos` is the hold less its charge. It changes the period of the hold,
 * also if the cap only keeps that period. A cap that was replaced or removed, or has forgotten it, stays as it is.
 */
export const closeInCap = (caps: Caps, holdCap: HoldCap | undefined, changePicos: bigint): Caps => {
  const cap = holdCap && caps.get(holdCap.keyId);
  if (!cap) return caps;
  if (cap.period === holdCap.period) {
    return new Map(caps).set(holdCap.keyId, { ...cap, leftPicos: cap.leftPicos + changePicos });
  }
  const keptPicos = keptOf(cap, holdCap.period);
  if (keptPicos === undefined) return caps;
  const kept = new Map(cap.kept).set(periodNameOf(holdCap.period), keptPicos + changePicos);
  return new Map(caps).set(holdCap.keyId, { ...cap, kept });
};

/** Returns what a cap has kept of a period of its epoch, in pico-USD. Undefined if it has not kept the period. */
export const keptOf = (cap: Cap, period: string): bigint | undefined => {
  const epoch = parsePeriod(period)?.epoch;
  return epoch !== undefined && epoch === parsePeriod(cap.period)?.epoch
    ? cap.kept?.get(periodNameOf(period))
    : undefined;
};

/** New limit of an API key, in pico-USD. */
export interface CapChange {
  readonly limitPicos: bigint;
  readonly kind: CapKind;
}

/**
 * Returns the account after the write that changes the cap of an API key. A new cap, or one of another kind, starts with
 * the whole limit. A new limit of the same kind changes `left` by the difference. Undefined `change`: the cap is removed.
 */
export const changeCap = <Capped extends { readonly caps: Caps; readonly version: number }>(
  account: Capped,
  keyId: string,
  change: CapChange | undefined,
  nowMs: number,
): Capped => {
  const version = account.version + 1;
  const caps = new Map(account.caps);
  const cap = caps.get(keyId);
  if (!change) caps.delete(keyId);
  else if (cap?.kind === change.kind && parsePeriod(cap.period)) {
    const raisedPicos = change.limitPicos - cap.limitPicos;
    const kept = cap.kept && new Map([...cap.kept].map(([name, picos]) => [name, picos + raisedPicos]));
    const leftPicos = cap.leftPicos + raisedPicos;
    caps.set(keyId, { ...cap, limitPicos: change.limitPicos, leftPicos, ...(kept && { kept }) });
  } else {
    const { limitPicos, kind } = change;
    caps.set(keyId, { limitPicos, leftPicos: limitPicos, kind, period: periodOf(version, kind, nowMs) });
  }
  return { ...account, caps, version };
};

/** Cap of an API key for its stored key. Undefined if the account has none. */
export const keyCapOf = (caps: Caps, keyId: string): KeyCap | undefined => {
  const cap = caps.get(keyId);
  const epoch = cap && parsePeriod(cap.period)?.epoch;
  return cap && epoch !== undefined ? { kind: cap.kind, epoch } : undefined;
};
