import type { CircuitId } from '../circuit/circuit.ts';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { PlacedHold } from '../ledger/hold.ts';
import type { ChargeRecord, LedgerDependencies } from '../ledger/ledger.ts';
import { release, type Uncollected } from '../ledger/release.ts';
import type { Deadline } from './deadline.ts';
import type { Caller, CallTimes } from './dependencies.ts';

/** Facts about a provider call that its charge record stores (BILL-15). Times are in whole ms. */
export type CallFacts = Pick<ChargeRecord, 'keyId' | 'endpoint' | 'provider' | 'firstByteMs' | 'totalMs'>;

type TimeName = Exclude<keyof CallTimes, 'modelId' | 'provider' | 'holdAtMs' | 'released'>;

/** Collects the facts of one provider call while it runs. Each time counts once. */
export interface CallReport {
  /** Called just before the provider call. */
  called(): void;
  /** Called when the provider's response starts. Returns the ms since the call. */
  started(): number;
  /** Called when the provider's response is complete. Without it, `facts` counts the time until now. */
  ended(): void;
  facts(): CallFacts;
  /** Records the present time under this name, for a trace only. Does nothing if the request has no trace. */
  mark(name: TimeName): void;
  /** Records the reason of a release, for a trace only. */
  markReleased(reason: string): void;
}

/** Starts the report of a hold and its call. A request with a trace gets their times. */
export const createCallReport = (
  clock: Pick<Clock, 'now'>,
  { keyId, endpoint, calls }: Pick<Caller, 'keyId' | 'endpoint' | 'calls'>,
  { providerId: provider, modelId }: CircuitId,
): CallReport => {
  let calledAtMs: number | undefined;
  let firstByteMs: number | undefined;
  let totalMs: number | undefined;
  const sinceCall = (): number => Math.max(0, Math.round(clock.now() - (calledAtMs ?? clock.now())));
  const times: CallTimes | undefined = calls && { modelId, provider, holdAtMs: clock.now() };
  if (times) calls?.push(times);
  const mark = (name: TimeName): void => {
    if (times) times[name] ??= clock.now();
  };
  return {
    called: () => {
      calledAtMs = clock.now();
      mark('calledAtMs');
    },
    started: () => {
      firstByteMs ??= sinceCall();
      mark('firstByteAtMs');
      return firstByteMs;
    },
    ended: () => {
      totalMs ??= sinceCall();
      mark('endedAtMs');
    },
    facts: () => ({
      ...(keyId !== undefined && { keyId }),
      ...(endpoint !== undefined && { endpoint }),
      provider,
      ...(firstByteMs !== undefined && { firstByteMs }),
      ...(calledAtMs !== undefined && { totalMs: totalMs ?? sinceCall() }),
    }),
    mark,
    markReleased: (reason) => {
      if (times) times.released ??= reason;
    },
  };
};

/** Releases the hold of a call. The record gets the facts about the call. */
export const releaseCall = async (
  ledger: LedgerDependencies,
  placedHold: PlacedHold,
  report: CallReport | undefined,
  released: Omit<Parameters<typeof release>[2], 'call'>,
): Promise<ChargeRecord | undefined> => {
  report?.mark('settleAtMs');
  report?.markReleased(released.reason);
  const record = await release(ledger, placedHold, { ...released, call: report?.facts() });
  report?.mark('settledAtMs');
  return record;
};

/** Returns the estimated cost of a call that failed with this error (BILL-21); undefined if it cost nothing. */
export type UncollectedOf = (thrown: unknown) => Uncollected | undefined;

/**
 * Returns whether the cost of a call that ended with this error uses the allowance. A client can provoke a deadline within
 * the output. A deadline without content can also be the provider's failure.
 */
export const allowanceUseOf = (
  thrown: unknown,
  deadline: Pick<Deadline, 'hasCut'>,
  hasContent: boolean,
): Uncollected['usesAllowance'] => {
  if (thrown instanceof GatewayError && thrown.usesAllowance) return 'yes';
  if (!deadline.hasCut(thrown)) return 'no';
  return hasContent ? 'yes' : 'third-of-a-day';
};

/** Returns the estimated cost of a failed call. An estimate that throws must not keep the hold: it counts as no cost. */
export const costOf = (uncollected: UncollectedOf | undefined, thrown: unknown): Uncollected | undefined => {
  try {
    return uncollected?.(thrown);
  } catch {
    return undefined;
  }
};
