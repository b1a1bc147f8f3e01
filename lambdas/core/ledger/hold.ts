import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { formatUsd } from '../money/usd.ts';
import { type Account, balanceOf, HOLDS_MAX } from './account.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import type { HoldReply } from './ledger-store.ts';

export interface Reservation {
  readonly accountId: string;
  readonly requestId: string;
  readonly holdId: string;
  readonly amountPicos: bigint;
}

export interface HoldOrder {
  readonly accountId: string;
  readonly requestId: string;
  readonly amountPicos: bigint;
  readonly expiresAtMs: number;
  /** Given what is available, a smaller amount worth trying once, or undefined (BILL-6). */
  readonly smaller?: (availablePicos: bigint) => bigint | undefined;
  /** A sentence for whoever is short of money: what the available amount would do. */
  readonly advice?: (availablePicos: bigint) => string;
}

const TRIES = 4;

/**
 * Reserves money. An id goes over the wire once: each further try takes the next id, on condition that the id before is
 * not held, and adopts that one if it turns out to be. Otherwise a first attempt that was delayed and lands after its hold was
 * settled and removed would create the hold again, and the sweeper would charge it a second time.
 */
export const placeHold = async (ports: LedgerPorts, order: HoldOrder): Promise<Reservation> => {
  const attempts = new Attempts(order);
  try {
    for (let tried = 0; tried < TRIES; tried += 1) {
      const reply = await attempts.send(ports);
      if (reply.kind === 'silent') continue;
      const held = attempts.conclude(reply);
      if (held) return held;
    }
    throw new GatewayError('service_unavailable', 'The balance cannot be reached at the moment. Nothing was charged.', {
      retryAfterSeconds: 30,
      cause: attempts.lastError,
    });
  } finally {
    await attempts.giveUp(ports);
  }
};

type Attempt = HoldReply | { readonly kind: 'silent' };

/** The ids one request has used so far, and what is known of each. */
class Attempts {
  readonly #order: HoldOrder;
  readonly #uncertain = new Set<string>();
  #count = 0;
  #amountPicos: bigint;
  #previous: { holdId: string; amountPicos: bigint } | undefined;
  #current = '';
  #before: { holdId: string; amountPicos: bigint } | undefined;
  #smallerTried = false;
  lastError: unknown;

  constructor(order: HoldOrder) {
    this.#order = order;
    this.#amountPicos = order.amountPicos;
  }

  async send(ports: LedgerPorts): Promise<Attempt> {
    this.#before = this.#previous;
    this.#current = `${this.#order.requestId}.${this.#count}`;
    this.#count += 1;
    this.#previous = { holdId: this.#current, amountPicos: this.#amountPicos };
    try {
      return await ports.store.hold({
        accountId: this.#order.accountId,
        holdId: this.#current,
        amountPicos: this.#amountPicos,
        expiresAtMs: this.#order.expiresAtMs,
        sweepAtMs: ports.clock.now() + ports.shortestLifetimeMs,
        previousHoldId: this.#before?.holdId,
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.lastError = error;
      if (error.kind === 'unavailable') this.#uncertain.add(this.#current);
      return { kind: 'silent' };
    }
  }

  /** The reservation this reply amounts to; undefined to try a smaller one; throws what the client is to be told. */
  conclude(reply: HoldReply): Reservation | undefined {
    if (reply.kind === 'held') return this.#take(this.#current, this.#amountPicos);
    if (reply.kind === 'no-account') {
      throw new GatewayError('internal_error', 'The account of this key is missing.');
    }
    const { account } = reply;
    if (account.holds.has(this.#current)) return this.#take(this.#current, this.#amountPicos);
    if (this.#before && account.holds.has(this.#before.holdId)) {
      return this.#take(this.#before.holdId, this.#before.amountPicos);
    }
    refuseUnlessShort(account);
    const smaller = this.#smallerTried ? undefined : this.#order.smaller?.(account.availablePicos);
    if (smaller === undefined) throw tooLittle(account, this.#order);
    this.#smallerTried = true;
    this.#amountPicos = smaller;
    return undefined;
  }

  /**
   * Ids that may still land are closed with a released record, so that nobody can ever settle them. Best effort: the
   * sweeper does the same once such a hold has expired.
   */
  async giveUp(ports: LedgerPorts): Promise<void> {
    for (const holdId of this.#uncertain) {
      const { accountId, requestId } = this.#order;
      const at = ports.clock.now();
      try {
        await ports.store.putRecord({
          accountId,
          requestId,
          holdId,
          outcome: 'released',
          amountPicos: 0n,
          at,
          reason: 'given-up',
        });
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
      }
    }
  }

  #take(holdId: string, amountPicos: bigint): Reservation {
    this.#uncertain.delete(holdId);
    return { accountId: this.#order.accountId, requestId: this.#order.requestId, holdId, amountPicos };
  }
}

const refuseUnlessShort = (account: Account): void => {
  if (account.status === 'blocked') {
    throw new GatewayError('account_blocked', 'This account is blocked for a violation of the terms.');
  }
  if (account.holds.size >= HOLDS_MAX) {
    throw new GatewayError(
      'rate_limit_exceeded',
      `This account has ${HOLDS_MAX} requests in flight, the most it may have. Wait for one to end.`,
      { retryAfterSeconds: 1 },
    );
  }
};

const tooLittle = (account: Account, order: HoldOrder): GatewayError => {
  const balance = balanceOf(account);
  if (balance <= 0n) {
    return new GatewayError('insufficient_balance', `The balance is ${formatUsd(balance)} USD. Top up to go on.`);
  }
  const available = formatUsd(account.availablePicos);
  return new GatewayError(
    'insufficient_balance',
    `This request reserves up to ${formatUsd(order.amountPicos)} USD, but only ${available} USD of the balance is available ` +
      `(the rest is reserved by requests in flight). ${order.advice?.(account.availablePicos) ?? ''} ` +
      'Top up, lower max_tokens or wait for them to end.',
  );
};
