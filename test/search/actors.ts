import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import type { CapOfKey } from '../../lambdas/core/ledger/caps.ts';
import { type CreditOrder, creditAccount } from '../../lambdas/core/ledger/credit.ts';
import { whole, withPaidCall } from '../../lambdas/core/paid-call/with-paid-call.ts';
import { settleOutbox, sweep } from '../support/strict-tending.ts';
import type { Served } from './operations.ts';
import { askVendor, CIRCUIT, errorTold, findModel, paidCallDependencies, USAGE } from './paid-ports.ts';
import { creditDependencies, ledgerDependencies } from './ports.ts';
import type { Body } from './run-actor.ts';
import { ACCOUNT } from './world.ts';

/** Time in Unix milliseconds after which other actors can release the holds of requests without an idempotency key. */
export const EXPIRES_AT_MS = 900_000;
/** Hold of each request in pico-USD. */
export const HOLD_PICOS = 100n;
const CHARGE_PICOS = 40n;

/** Request with a complete response: hold, call, settle. With `cap`, its API key has one. */
export const request =
  (requestId: string, outcomes: readonly Served[] = ['good'], cap?: CapOfKey): Body =>
  async (host) => {
    const first = {
      model: findModel(),
      circuit: CIRCUIT,
      hold: { amountPicos: HOLD_PICOS, expiresAtMs: EXPIRES_AT_MS },
      deadline: {
        expiresAtMs: EXPIRES_AT_MS,
        start: () => new AbortController().signal,
        hasCut: () => false,
        stop: () => undefined,
        started: () => undefined,
        progressed: () => undefined,
      },
    };
    const terms = {
      endUser: undefined,
      expectsUsage: true,
      chargeFor: () => ({ amountPicos: CHARGE_PICOS, prices: {}, usage: {}, implausible: false }),
    };
    const caller = { accountId: ACCOUNT, requestId, hostEndsAtMs: undefined, cap };
    try {
      await withPaidCall(paidCallDependencies(host), caller, { first }, async () => {
        await askVendor(host, outcomes);
        return whole({ answer: undefined, usage: USAGE, terms });
      });
      return { requestId, kind: 'success', content: requestId };
    } catch (error) {
      return errorTold(requestId, error);
    }
  };

const untilStoreFails = async (work: () => Promise<unknown>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
};

/** Sweeps `passes` times. Each pass waits until an account is due. */
export const sweeper =
  (passes = 2): Body =>
  async (host) => {
    const deps = ledgerDependencies(host);
    for (let pass = 0; pass < passes; pass += 1) await untilStoreFails(() => sweep(deps));
    return undefined;
  };

/** Reports changes of credit in their order. Each is given up when the store does not confirm it. */
export const payer =
  (...orders: readonly Omit<CreditOrder, 'accountId' | 'reason'>[]): Body =>
  async (host) => {
    const deps = creditDependencies(host);
    for (const order of orders) {
      await untilStoreFails(() => creditAccount(deps, { ...order, accountId: ACCOUNT, reason: 'test' }));
    }
    return undefined;
  };

/** Settles the outbox `passes` times. Each pass waits until the outbox has an entry. */
export const worker =
  (passes = 2): Body =>
  async (host) => {
    const deps = ledgerDependencies(host);
    for (let pass = 0; pass < passes; pass += 1) await untilStoreFails(() => settleOutbox(deps));
    return undefined;
  };
