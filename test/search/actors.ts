import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import { whole, withPaidCall } from '../../lambdas/core/paid-call/with-paid-call.ts';
import { settleOutbox, sweep } from '../support/strict-tending.ts';
import type { Served } from './operations.ts';
import { askVendor, CIRCUIT, errorTold, findModel, paidCallDependencies, USAGE } from './paid-ports.ts';
import { ledgerDependencies } from './ports.ts';
import type { Body } from './run-actor.ts';
import { ACCOUNT } from './world.ts';

/** When the holds of unkeyed requests may be released by others, in Unix milliseconds. */
export const EXPIRES_AT_MS = 900_000;
/** What they reserve and are charged, in pico-USD. */
export const HOLD_PICOS = 100n;
const CHARGE_PICOS = 40n;

/** Hold, call, settle, with an answer that comes whole. */
export const request =
  (requestId: string, outcomes: readonly Served[] = ['good']): Body =>
  async (host) => {
    const first = {
      model: findModel(),
      circuit: CIRCUIT,
      hold: { amountPicos: HOLD_PICOS, expiresAtMs: EXPIRES_AT_MS },
      deadline: {
        expiresAtMs: EXPIRES_AT_MS,
        start: () => new AbortController().signal,
        stop: () => undefined,
        started: () => undefined,
      },
    };
    const terms = {
      endUser: undefined,
      expectsUsage: true,
      chargeFor: () => ({ amountPicos: CHARGE_PICOS, prices: {}, usage: {}, implausible: false }),
    };
    const caller = { accountId: ACCOUNT, requestId, hostEndsAtMs: undefined };
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

/** Looks so often for holds whose time is over, each time when there is somebody to look at. */
export const sweeper =
  (passes = 2): Body =>
  async (host) => {
    const deps = ledgerDependencies(host);
    for (let pass = 0; pass < passes; pass += 1) await untilStoreFails(() => sweep(deps));
    return undefined;
  };

/** Charges what waits in the outbox, so often, each time when there is something. */
export const worker =
  (passes = 2): Body =>
  async (host) => {
    const deps = ledgerDependencies(host);
    for (let pass = 0; pass < passes; pass += 1) await untilStoreFails(() => settleOutbox(deps));
    return undefined;
  };
