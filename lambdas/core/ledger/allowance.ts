import { utcDay } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { formatUsd } from '../money/usd.ts';
import { timeOfId } from '../request-id.ts';
import { SKEW_MS_MAX } from '../store-clock.ts';
import { movePeriod } from './period-counter.ts';

/** Sum of a UTC day. */
interface AmountOfDay {
  /** UTC day such as `2026-11-27`, so days compare as text. */
  readonly day: string;
  /** Sum in pico-USD of the uncollected amounts that count. It can exceed the allowance: requests run concurrently. */
  readonly picos: bigint;
}

/** Uncollected amounts of an account that use its allowance (BILL-21). */
export interface UncollectedOfDay extends AmountOfDay {
  /** Groups of deadlines of the day without content, counted up to the first that uses the allowance. Undefined: none. */
  readonly silentDeadlines?: number;
  /** Unix ms at which the first deadline of the last group ended its call. */
  readonly silentAtMs?: number;
  /** Part of `picos` that starts no probation, because a provider can have caused these deadlines. */
  readonly freePicos?: bigint;
  /** Day that was counted before this one. A clock that returns to it continues its sum. */
  readonly other?: AmountOfDay;
}

/** Part of an account that its uncollected amounts change. Both are undefined until the first one. */
export interface UncollectedState {
  readonly uncollected?: UncollectedOfDay | undefined;
  /** The account is on probation until `spentPicos` reaches this amount. */
  readonly probationUntilPicos?: bigint | undefined;
}

interface SpendingState extends UncollectedState {
  readonly spentPicos: bigint;
}

/** Allowance of an account for uncollected amounts, as its API key item stores it (BILL-21). */
export interface StoredAllowance {
  /** Pico-USD for each UTC day. */
  readonly picos: bigint;
  /** Unix ms of the charges from which it was computed. */
  readonly atMs: number;
}

/** Condition of a hold. */
export interface Allowance {
  /** UTC day of the request by the clock of its process. */
  readonly day: string;
  /** Allowance of the account and day, in pico-USD. With 0, a single uncollected amount uses it up. */
  readonly picos: bigint;
  /** Whether an account on probation gets the hold only if it has no open one. */
  readonly isLarge: boolean;
}

/** Largest output limit, in tokens, that an account on probation can use for several requests at a time. */
export const PROBATION_OUTPUT_TOKENS = 8_192;

/** Number of allowances from which an account gets no further hold on a UTC day. */
const ALLOWANCES_MAX = 10n;

/** Charges that end a probation, as a multiple of the uncollected amounts that caused it. */
export const REPAID_TIMES = 10n;

/** Groups of deadlines without content of a UTC day that start no probation: the provider can have caused them. */
export const SILENT_DEADLINES_FREE = 2;

/** Number at which the count of these groups ends. */
export const SILENT_DEADLINES_MAX = SILENT_DEADLINES_FREE + 1;

/** Returns the uncollected amount of a day, in pico-USD, at which holds are rejected until the next day. */
export const dailyLimitOf = ({ picos }: Pick<Allowance, 'picos'>): bigint => (picos > 0n ? ALLOWANCES_MAX * picos : 1n);

/** Whether the charges of the account have not made up for its uncollected amounts yet. */
export const isOnProbation = ({ probationUntilPicos, spentPicos }: SpendingState): boolean =>
  probationUntilPicos !== undefined && spentPicos < probationUntilPicos;

interface HoldState extends SpendingState {
  readonly holds: { readonly size: number };
}

/**
 * Returns why the account gets no hold under the allowance: `day` until the next UTC day, `probation` while it has an
 * open hold. Undefined if the allowance permits the hold.
 */
export const refusalOf = (account: HoldState, allowance: Allowance | undefined): 'day' | 'probation' | undefined => {
  if (!allowance) return undefined;
  const { uncollected } = account;
  if (uncollected && inDay(uncollected, allowance.day).picos >= dailyLimitOf(allowance)) return 'day';
  return allowance.isLarge && account.holds.size > 0 && isOnProbation(account) ? 'probation' : undefined;
};

/**
 * Returns the counter on this day, as `movePeriod` moves it. It keeps the day that it leaves, so two clocks that alternate
 * between two days start none again. Deadlines without content are counted once for days that continue each other.
 */
export const inDay = (counter: UncollectedOfDay | undefined, day: string): UncollectedOfDay => {
  if (!counter || counter.day === day) return counter ?? { day, picos: 0n };
  const { day: _day, picos: _picos, other, ...silent } = counter;
  const kept = other ? [{ period: other.day, picos: other.picos }] : [];
  const { picos, origin } = movePeriod({ period: counter.day, picos: counter.picos, kept }, day);
  return {
    day,
    picos,
    other: { day: counter.day, picos: counter.picos },
    ...(origin !== 'new' && silent),
  };
};

/** Part of a charge record that decides whether its amount uses the allowance. */
export interface AllowanceUse {
  /**
   * Estimated cost in pico-USD, above 0, of a released request that the provider served (BILL-21). Undefined if it cost
   * nothing.
   */
  readonly uncollectedPicos?: bigint;
  /** Whether the uncollected amount uses the account's allowance of the day. */
  readonly usesAllowance?: boolean;
  /** Whether a deadline ended the call without content. The amount uses the allowance from the third group of a day on. */
  readonly silentDeadline?: boolean;
  /** Allowance of the account when the hold was placed, in pico-USD. Undefined if the amount cannot use it. */
  readonly allowancePicos?: bigint;
}

/** Returns the amount in pico-USD by which closing the hold can raise the counter. Undefined: it changes nothing. */
export const possibleUseOf = ({ uncollectedPicos, usesAllowance, silentDeadline }: AllowanceUse): bigint | undefined =>
  usesAllowance || silentDeadline ? uncollectedPicos : undefined;

/**
 * Whether a call that a deadline ends now without content belongs to the last group: it was in progress when the first of
 * the group ended. A provider that hangs meets all requests in progress.
 */
export const isTogether = ({ silentAtMs }: UncollectedOfDay, holdId: string, nowMs: number): boolean =>
  silentAtMs !== undefined && silentAtMs <= nowMs + SKEW_MS_MAX && (timeOfId(holdId) ?? silentAtMs) < silentAtMs;

/** Returns the counter after a deadline without content, and whether its amount is free. */
const countSilent = (counter: UncollectedOfDay, record: ClosingRecord, use: bigint, nowMs: number) => {
  const { silentDeadlines = 0, silentAtMs = nowMs, freePicos = 0n } = counter;
  const isOfGroup = isTogether(counter, record.holdId, nowMs);
  const groups = isOfGroup ? silentDeadlines : Math.min(silentDeadlines + 1, SILENT_DEADLINES_MAX);
  const isFree = groups <= SILENT_DEADLINES_FREE;
  const counted: UncollectedOfDay = {
    ...counter,
    silentDeadlines: groups,
    silentAtMs: isOfGroup ? silentAtMs : nowMs,
    freePicos: isFree ? freePicos + use : freePicos,
  };
  return { counted, isFree };
};

type ClosingRecord = AllowanceUse & { readonly holdId: string };

/**
 * Returns the state after a hold was closed at `nowMs`. Amounts of one day add up. If they exceed the allowance of the
 * record, a probation starts, and further amounts prolong it.
 */
export const countUncollected = (
  { uncollected, probationUntilPicos, spentPicos }: SpendingState,
  record: ClosingRecord,
  nowMs: number,
): UncollectedState => {
  const possible = possibleUseOf(record);
  const before = {
    ...(uncollected && { uncollected }),
    ...(probationUntilPicos !== undefined && { probationUntilPicos }),
  };
  if (possible === undefined) return before;
  const today = inDay(uncollected, utcDay(nowMs));
  const { counted, isFree } = record.silentDeadline
    ? countSilent(today, record, possible, nowMs)
    : { counted: today, isFree: false };
  const uncollectedNow = { ...counted, picos: counted.picos + possible };
  const after = { uncollected: uncollectedNow };
  if (isOnProbation({ probationUntilPicos, spentPicos })) {
    return { ...after, probationUntilPicos: (probationUntilPicos ?? 0n) + (isFree ? 0n : REPAID_TIMES * possible) };
  }
  const { allowancePicos } = record;
  const used = uncollectedNow.picos - (uncollectedNow.freePicos ?? 0n);
  const isExceeded = !isFree && allowancePicos !== undefined && used > allowancePicos;
  return { ...before, ...after, ...(isExceeded && { probationUntilPicos: spentPicos + REPAID_TIMES * used }) };
};

const RETRY_AFTER_SECONDS = 300;
const MS_PER_DAY = 86_400_000;

/** Returns the client's error for an account that has used its allowance ten times. The message has the time of the reset. */
export const allowanceUsed = ({ day, picos }: Allowance): GatewayError => {
  const resetDay = utcDay(Date.parse(day) + MS_PER_DAY);
  return new GatewayError(
    'rate_limit_exceeded',
    `Requests of this account that ended without a charge used ${picos > 0n ? `${ALLOWANCES_MAX} times ` : ''}its daily allowance of ${formatUsd(picos)} USD. Such requests are accepted again at ${resetDay}T00:00:00Z.`,
    {
      limit: 'uncollected',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      // SDKs would retry within seconds, and the allowance is back on the next day.
      headers: { 'x-should-retry': 'false' },
    },
  );
};

const PROBATION_RETRY_SECONDS = 30;

/** Returns the client's error for a large request of an account on probation. It names the output limit that is admitted. */
export const onProbation = ({ picos }: Pick<Allowance, 'picos'>, field: string, tokensMax: number): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `${field}: requests of this account that ended without a charge exceeded its daily allowance of ${formatUsd(picos)} USD. Until its charges make up for them, a request with a higher limit than ${tokensMax} output tokens needs an account without open requests. Set ${field} to at most ${tokensMax}, or wait for the open requests to end.`,
    { limit: 'probation', param: field, retryAfterSeconds: PROBATION_RETRY_SECONDS },
  );
