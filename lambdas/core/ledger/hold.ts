import { inTime, sleep, utcDay } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { formatUsd } from '../money/usd.ts';
import { type StoreTime, within } from '../retry.ts';
import { type Allowance, allowanceUsed, onProbation, PROBATION_OUTPUT_TOKENS, refusalOf } from './allowance.ts';
import { capExceeded, describeHolds } from './cap-status.ts';
import {
  type CapCondition,
  type CapOfKey,
  conditionFor,
  firstCondition,
  type HoldCap,
  isSameCondition,
  leftFor,
  toHoldCap,
} from './caps.ts';
import type { HoldReply, LedgerDependencies } from './ledger.ts';
import { type Account, balanceOf, HOLDS_MAX } from './ledger.ts';

export interface PlacedHold {
  readonly accountId: string;
  readonly requestId: string;
  readonly holdId: string;
  readonly amountPicos: bigint;
  /** Unix milliseconds. After this time other processes may release the hold. */
  readonly expiresAtMs: number;
  /** First id that was never sent, for a further hold of the same request. */
  readonly nextId: number;
  /** Cap in which the hold and its charge count (KEY-9). */
  readonly cap?: HoldCap;
  /** Allowance of the account for uncollected amounts, in pico-USD (BILL-21). Undefined if they cannot use it. */
  readonly allowancePicos?: bigint | undefined;
  /** Amount before the hold that it could have used, in pico-USD: of the account, or of the cap if that is less. */
  readonly availablePicos: bigint;
  /** The account after the write of the hold. */
  readonly account: Pick<Account, 'spentPicos' | 'month'>;
}

/**
 * Number of hold ids that each model of a request may use: `.0` to `.3` for the first one. With an idempotency key, all
 * models share these ids, because a request that takes over a claim resolves all ids of the previous owner.
 */
export const HOLD_IDS = 4;

export const holdIdOf = (requestId: string, number: number): string => `${requestId}.${number}`;

export const requestIdOf = (holdId: string): string => holdId.slice(0, holdId.lastIndexOf('.'));

export interface HoldParams {
  readonly accountId: string;
  readonly requestId: string;
  readonly amountPicos: bigint;
  readonly expiresAtMs: number;
  /** First usable id. Lower ids belong to an earlier hold of the same request that was released. */
  readonly firstId?: number;
  /** First id that the request must not use. Default: HOLD_IDS. */
  readonly endId?: number;
  /** Cap of the API key, as its stored key names it. Undefined: no cap limits the hold (KEY-9). */
  readonly cap?: CapOfKey | undefined;
  /**
   * Returns a smaller amount to try once for the available amount, or for the rest of the cap if that is less; undefined
   * if there is none (BILL-6). `outputTokensMax` limits the output of each choice further.
   */
  readonly smaller?: (availablePicos: bigint, outputTokensMax?: number) => bigint | undefined;
  /** Returns advice for a client without enough money: what the available amount pays for. */
  readonly advice?: (availablePicos: bigint) => string;
  /** Returns how the client makes the request fit the available amount, such as `set max_tokens to at most 500`. */
  readonly reduction?: (availablePicos: bigint) => string;
  /** Time that is left for store calls before the provider call. Undefined means no limit. */
  readonly storeTime?: StoreTime | undefined;
  /** Last sentence of the error, which advises the client without enough money. Replaces the default. */
  readonly remedy?: string;
  /** Allowance of the day for uncollected amounts, in pico-USD; undefined for requests that do not depend on it. */
  readonly allowancePicos?: bigint;
  /** Output limit of a request for text. An account on probation gets a large one only without open holds (BILL-21). */
  readonly outputLimit?: OutputLimit;
}

interface OutputLimit {
  /** Name of the limit in the client's protocol. */
  readonly field: string;
  /** Tokens of each choice. */
  readonly tokens: number;
  readonly choices: number;
}

const isLarge = ({ tokens, choices }: OutputLimit): boolean => tokens * choices > PROBATION_OUTPUT_TOKENS;

/**
 * Base of the random pause before a retry, in ms. The maximum is twice the base before the first retry and doubles with
 * each further retry.
 */
const PAUSE_MS = 20;

interface HoldOrder extends HoldParams {
  /** Unix ms at the start. It decides the period of the cap and the day of the allowance. */
  readonly nowMs: number;
}

/** Hold to try next. */
export interface Wanted {
  readonly amountPicos: bigint;
  readonly cap: CapCondition | undefined;
  readonly allowance: Allowance | undefined;
  /** Whether a smaller amount can follow. */
  readonly mayShrink: boolean;
}

/** Attempt to place the hold under one id. */
interface HoldTry {
  readonly holdId: string;
  readonly amountPicos: bigint;
  readonly cap: CapCondition | undefined;
  readonly allowance: Allowance | undefined;
  /** No reply came: the hold may exist, or may still be written. */
  uncertain: boolean;
}

/**
 * Places a hold. Each id is sent once. Each retry uses the next id, on the condition that the previous id is not held,
 * and adopts an earlier hold that turns out to exist. A repeated id would be unsafe: a delayed first write could land
 * after its hold was settled and removed. It would create the hold again, and the sweeper would charge it a second
 * time.
 */
export const placeHold = async (deps: LedgerDependencies, order: HoldParams): Promise<PlacedHold> => {
  deps.breaker?.admit();
  const attempts: HoldTry[] = [];
  try {
    const nowMs = deps.clock.now();
    const { held, account } = await tryInTurn(deps, { ...order, nowMs }, attempts);
    held.uncertain = false;
    deps.meter?.({ held: held.amountPicos });
    deps.served?.placed(held.holdId, Math.max(deps.shortestLifetimeMs, order.expiresAtMs - nowMs));
    const cap = toHoldCap(held.cap);
    return {
      accountId: order.accountId,
      requestId: order.requestId,
      holdId: held.holdId,
      amountPicos: held.amountPicos,
      expiresAtMs: order.expiresAtMs,
      nextId: (order.firstId ?? 0) + attempts.length,
      allowancePicos: order.allowancePicos,
      availablePicos: usableOf(account, cap) + held.amountPicos,
      account: { spentPicos: account.spentPicos, ...(account.month !== undefined && { month: account.month }) },
      ...(cap && { cap }),
    };
  } finally {
    const uncertain = attempts.filter((attempt) => attempt.uncertain);
    if (uncertain.length > 0) await giveUp(deps, order, uncertain);
  }
};

/** Returns what the account has left, or the cap if that is less. */
const usableOf = ({ availablePicos, caps }: Account, cap: HoldCap | undefined): bigint => {
  const leftPicos = (cap && caps.get(cap.keyId)?.leftPicos) ?? availablePicos;
  return leftPicos < availablePicos ? leftPicos : availablePicos;
};

interface Held {
  readonly held: HoldTry;
  readonly account: Account;
}

const tryInTurn = async (deps: LedgerDependencies, order: HoldOrder, attempts: HoldTry[]): Promise<Held> => {
  let wanted: Wanted = {
    amountPicos: order.amountPicos,
    cap: firstCondition(order.cap, order.nowMs),
    allowance: allowanceAt(order),
    mayShrink: order.smaller !== undefined,
  };
  let cause: unknown;
  for (let id = order.firstId ?? 0; id < (order.endId ?? HOLD_IDS); id += 1) {
    // An id that was not sent needs no release.
    if (order.storeTime?.leftMs === 0) break;
    const { amountPicos, cap, allowance } = wanted;
    const attempt = { holdId: holdIdOf(order.requestId, id), amountPicos, cap, allowance, uncertain: false };
    const previous = attempts.at(-1);
    attempts.push(attempt);
    try {
      const reply = await send(deps, order, attempt, previous);
      deps.breaker?.succeeded();
      const held = heldBy(reply, attempt, attempts);
      if (held) return held;
      wanted = await nextAfter(deps, reply, order, wanted);
    } catch (error) {
      attempt.uncertain = uncertainAfter(error);
      if (!(error instanceof StoreError)) throw error;
      cause = error;
      await sleep(deps.clock, deps.random() * PAUSE_MS * 2 ** attempts.length);
    }
  }
  if (attempts.length > 0 && attempts.every(({ uncertain }) => uncertain)) deps.breaker?.failed();
  throw new GatewayError(
    'service_unavailable',
    'The balance cannot be reached now. Nothing was charged. Retry the request.',
    {
      cause,
    },
  );
};

/**
 * Whether the hold of an attempt may still exist after its error. It cannot exist after a rejection or a definite
 * failure of the store.
 */
const uncertainAfter = (error: unknown): boolean =>
  error instanceof StoreError ? error.kind === 'unavailable' : !(error instanceof GatewayError);

const send = (
  deps: LedgerDependencies,
  { accountId, expiresAtMs, storeTime }: HoldOrder,
  { holdId, amountPicos, cap, allowance }: HoldTry,
  previous: HoldTry | undefined,
): Promise<HoldReply> =>
  within(storeTime, () =>
    deps.store.hold({
      accountId,
      holdId,
      amountPicos,
      expiresAtMs,
      sweepAtMs: deps.clock.now() + deps.shortestLifetimeMs,
      previousHoldId: previous?.holdId,
      ...(allowance && { allowance }),
      ...(cap && { cap }),
    }),
  );

export const allowanceAt = ({ nowMs, allowancePicos, outputLimit }: HoldOrder): Allowance | undefined =>
  allowancePicos === undefined
    ? undefined
    : { day: utcDay(nowMs), picos: allowancePicos, isLarge: outputLimit !== undefined && isLarge(outputLimit) };

/**
 * Moves a counter of uncollected amounts from a later day to the present one. Otherwise a clock that was ahead would
 * have the account rejected until that day is over. Best effort: the next refused hold repeats it.
 */
const returnToDay = async (
  { clock, store }: LedgerDependencies,
  { id, uncollected }: Account,
  { nowMs, allowancePicos }: HoldOrder,
): Promise<void> => {
  if (allowancePicos === undefined || !uncollected || uncollected.day <= utcDay(nowMs)) return;
  const returned = store.closeMonths(id, nowMs).catch(() => undefined);
  await inTime(clock, GIVE_UP_WAIT_MS, returned);
};

/** Returns the newest of the ids that the reply shows as held. */
const heldBy = (reply: HoldReply, current: HoldTry, attempts: readonly HoldTry[]): Held | undefined => {
  if (reply.kind === 'held') return { held: current, account: reply.account };
  if (reply.kind === 'no-account') throw new GatewayError('internal_error', 'The account of this key is missing.');
  const held = attempts.findLast(({ holdId }) => reply.account.holds.has(holdId));
  return held && { held, account: reply.account };
};

/** Returns the hold to try after a refused one. Throws the client's error if there is none. */
export const nextAfter = async (
  deps: LedgerDependencies,
  reply: HoldReply,
  order: HoldOrder,
  refused: Wanted,
): Promise<Wanted> => {
  if (reply.kind !== 'refused') throw new Error('only a refused hold has another one after it');
  const { account } = reply;
  await returnToDay(deps, account, order);
  const isOnProbation = refuseUnlessShort(account, refused) === 'probation';
  const { availablePicos, caps } = account;
  const cap = order.cap && conditionFor(account, order.cap.keyId, order.nowMs);
  const leftPicos = (cap && leftFor(caps, cap)) ?? availablePicos;
  const usablePicos = leftPicos < availablePicos ? leftPicos : availablePicos;
  // The stored key can name an earlier cap, and the first hold of a period ends the period before.
  const isOtherCap = cap && refused.cap && !isSameCondition(cap, refused.cap);
  if (isOnProbation) return smallOnProbation(order, refused, { cap, usablePicos });
  if (isOtherCap && balanceOf(account) > 0n && usablePicos >= refused.amountPicos) return { ...refused, cap };
  const smaller = refused.mayShrink ? order.smaller?.(usablePicos) : undefined;
  if (smaller !== undefined) return { ...refused, amountPicos: smaller, cap, mayShrink: false };
  const keyId = leftPicos < availablePicos && paysFor(account, order, refused) ? cap?.keyId : undefined;
  if (keyId !== undefined) {
    const sentences = { advice: order.advice?.(usablePicos), reduction: order.reduction?.(usablePicos) };
    throw capExceeded(account, { ...order, ...sentences, keyId });
  }
  throw tooLittle(account, order);
};

/**
 * Returns the hold with the output limit that an account on probation can use. Throws the client's error if the client set
 * a larger one.
 */
const smallOnProbation = (
  { smaller, outputLimit }: HoldOrder,
  { allowance, mayShrink }: Wanted,
  { cap, usablePicos }: { readonly cap: CapCondition | undefined; readonly usablePicos: bigint },
): Wanted => {
  if (!allowance || !outputLimit) throw new Error('only a large request for text depends on the probation');
  const tokensMax = Math.floor(PROBATION_OUTPUT_TOKENS / outputLimit.choices);
  const amountPicos = mayShrink ? smaller?.(usablePicos, tokensMax) : undefined;
  if (amountPicos === undefined) throw onProbation(allowance, outputLimit.field, tokensMax);
  return { amountPicos, cap, allowance: { ...allowance, isLarge: false }, mayShrink: false };
};

/** Whether the account would pay for the hold if the API key had no cap. Called once, because `smaller` can have effects. */
const paysFor = (account: Account, { smaller }: HoldOrder, { amountPicos, mayShrink }: Wanted): boolean =>
  balanceOf(account) > 0n &&
  (account.availablePicos >= amountPicos || (mayShrink && smaller?.(account.availablePicos) !== undefined));

/** Longest time that the response waits for the release of holds that were given up, in ms. */
const GIVE_UP_WAIT_MS = 450;
/** Time after which the sweeper may look for such holds, in ms: then a late write has landed or never will. */
const SWEEP_GIVEN_UP_MS = 15_000;
/** Times after which the account is checked again for holds that landed late, in ms. */
const LOOK_AGAIN_MS = [5_000, 15_000] as const;

/**
 * Releases each hold whose write may have landed, and checks again later for those that land late. The sweeper does the
 * same, soon, because this process may end or be suspended first.
 */
const giveUp = async (deps: LedgerDependencies, order: HoldParams, uncertain: readonly HoldTry[]): Promise<void> => {
  const { accountId, requestId } = order;
  const at = deps.clock.now();
  const released = { accountId, requestId, outcome: 'released', amountPicos: 0n, at, reason: 'given_up' } as const;
  // Each write is sent once: the later checks and the sweeper repeat it.
  const close = async ({ holdId, amountPicos, ...tried }: HoldTry): Promise<boolean> => {
    const cap = toHoldCap(tried.cap);
    const own = { ...released, holdId, ...(cap && { cap }) };
    const reply = await deps.store.putRecord(own);
    const record = reply.kind === 'written' ? own : reply.record;
    if (!(await deps.store.apply(record, amountPicos, deps.clock.now()))) return false;
    deps.meter?.({ held: amountPicos, released: amountPicos });
    return true;
  };
  const closeAll = async (landed: readonly HoldTry[]): Promise<boolean> => {
    let all = true;
    for (const attempt of landed) all = (await close(attempt).catch(() => false)) && all;
    return all;
  };
  const closeNow = async (): Promise<void> => {
    if (await closeAll(uncertain)) return;
    await deps.store.sweepBy(accountId, deps.clock.now() + SWEEP_GIVEN_UP_MS).catch(() => undefined);
  };
  const look = async (): Promise<void> => {
    const holds = (await deps.store.readAccount(accountId))?.holds;
    await closeAll(uncertain.filter(({ holdId }) => holds?.has(holdId)));
  };
  for (const delayMs of LOOK_AGAIN_MS) deps.clock.after(delayMs, () => void look().catch(() => undefined));
  await inTime(deps.clock, GIVE_UP_WAIT_MS, closeNow());
};

/** Throws the error for an account that gets no hold of any amount. Returns `probation` if it gets a small one. */
const refuseUnlessShort = (account: Account, { allowance }: Wanted): 'probation' | undefined => {
  if (account.status === 'blocked') {
    throw new GatewayError(
      'account_blocked',
      'This account is blocked for a violation of the terms. Contact the operator of this service.',
    );
  }
  if (account.holds.size >= HOLDS_MAX) {
    throw new GatewayError(
      'rate_limit_exceeded',
      `This account has ${HOLDS_MAX} requests in progress, which is the limit. Wait for one to end.`,
      { limit: 'holds' },
    );
  }
  const refusal = refusalOf(account, allowance);
  if (allowance && refusal === 'day') throw allowanceUsed(allowance);
  return refusal === 'probation' ? refusal : undefined;
};

const tooLittle = (account: Account, order: HoldParams): GatewayError => {
  const balance = balanceOf(account);
  if (balance <= 0n) {
    return new GatewayError('insufficient_balance', `The balance is ${formatUsd(balance)} USD. Top up to continue.`);
  }
  const sentences = [
    `This request needs a hold of up to ${formatUsd(order.amountPicos)} USD, but only ${formatUsd(account.availablePicos)} USD is available.`,
    describeHolds([...account.holds.values()]),
    order.advice?.(account.availablePicos) ?? '',
    order.remedy ?? `Top up, or ${order.reduction?.(account.availablePicos) ?? 'send a smaller request'}.`,
  ];
  return new GatewayError('insufficient_balance', sentences.filter(Boolean).join(' '));
};
