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
  /** Present period of the cap, which the hold ends: the new one starts from the limit. Undefined: it has started. */
  readonly ends?: string;
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
export const toCap = (limitPicos: bigint, leftPicos: bigint, period: string): Cap => {
  const kind = parsePeriod(period)?.kind;
  return kind ? { limitPicos, leftPicos, kind, period } : { limitPicos: 0n, leftPicos: -1n, kind: 'total', period };
};

/**
 * Period of a cap by this clock. A stored period that is later counts as the present one: otherwise a process whose
 * clock is late could spend the limit again.
 */
export const presentPeriod = ({ kind, period }: Cap, nowMs: number): string => {
  const parts = parsePeriod(period);
  if (!parts) return period;
  const name = nameOf(kind, nowMs);
  return name > parts.name ? `${parts.epoch}:${name}` : period;
};

/** Returns the condition to try first, which depends on the stored key alone. Undefined if the key has no cap. */
export const firstCondition = (cap: CapOfKey | undefined, nowMs: number): CapCondition | undefined =>
  cap && { keyId: cap.keyId, period: periodOf(cap.epoch, cap.kind, nowMs) };

/** Returns the condition that fits the caps of an account. None fits a cap of a newer release. */
export const conditionFor = (caps: Caps, keyId: string, nowMs: number): CapCondition => {
  const cap = caps.get(keyId);
  if (!cap || !parsePeriod(cap.period)) return { keyId, period: undefined };
  const period = presentPeriod(cap, nowMs);
  return period === cap.period ? { keyId, period } : { keyId, period, ends: cap.period };
};

export const isSameCondition = (one: CapCondition, other: CapCondition): boolean =>
  one.keyId === other.keyId && one.period === other.period && one.ends === other.ends;

/** Returns the amount that a hold with this condition can take, in pico-USD. Undefined if no cap limits it. */
export const leftFor = (caps: Caps, { keyId, ends }: CapCondition): bigint | undefined => {
  const cap = caps.get(keyId);
  return cap && (ends === undefined ? cap.leftPicos : cap.limitPicos);
};

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
  const leftPicos = (ends === undefined ? cap.leftPicos : cap.limitPicos) - amountPicos;
  return leftPicos < 0n ? undefined : new Map(caps).set(keyId, { ...cap, period, leftPicos });
};

/**
 * Returns the caps after a hold was closed. `changePicos` is the hold less its charge. A cap that was replaced or
 * removed, or is in a later period, stays as it is.
 */
export const closeInCap = (caps: Caps, holdCap: HoldCap | undefined, changePicos: bigint): Caps => {
  const cap = holdCap && caps.get(holdCap.keyId);
  if (!cap || cap.period !== holdCap.period) return caps;
  return new Map(caps).set(holdCap.keyId, { ...cap, leftPicos: cap.leftPicos + changePicos });
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
    const leftPicos = cap.leftPicos + change.limitPicos - cap.limitPicos;
    caps.set(keyId, { ...cap, limitPicos: change.limitPicos, leftPicos });
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
