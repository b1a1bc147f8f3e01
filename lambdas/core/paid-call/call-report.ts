import type { Clock } from '../clock.ts';
import type { ChargeRecord } from '../ledger/ledger.ts';
import type { Caller } from './dependencies.ts';

/** Facts about a provider call that its charge record stores (BILL-15). Times are in whole ms. */
export type CallFacts = Pick<ChargeRecord, 'keyId' | 'endpoint' | 'provider' | 'firstByteMs' | 'totalMs'>;

/** Collects the facts of one provider call while it runs. Each time counts once. */
export interface CallReport {
  /** Called just before the provider call. */
  called(): void;
  /** Called when the provider's response starts. Returns the ms since the call. */
  started(): number;
  /** Called when the provider's response is complete. Without it, `facts` counts the time until now. */
  ended(): void;
  facts(): CallFacts;
}

export const createCallReport = (
  clock: Pick<Clock, 'now'>,
  { keyId, endpoint }: Pick<Caller, 'keyId' | 'endpoint'>,
  provider: string,
): CallReport => {
  let calledAtMs: number | undefined;
  let firstByteMs: number | undefined;
  let totalMs: number | undefined;
  const sinceCall = (): number => Math.max(0, Math.round(clock.now() - (calledAtMs ?? clock.now())));
  return {
    called: () => {
      calledAtMs = clock.now();
    },
    started: () => {
      firstByteMs ??= sinceCall();
      return firstByteMs;
    },
    ended: () => {
      totalMs ??= sinceCall();
    },
    facts: () => ({
      ...(keyId !== undefined && { keyId }),
      ...(endpoint !== undefined && { endpoint }),
      provider,
      ...(firstByteMs !== undefined && { firstByteMs }),
      ...(calledAtMs !== undefined && { totalMs: totalMs ?? sinceCall() }),
    }),
  };
};
