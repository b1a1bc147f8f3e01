import { setTimeout as sleep } from 'node:timers/promises';
import type { EventPublisher } from '../lambdas/core/event-publisher.ts';
import type { Reporting } from '../lambdas/functions/wiring/dependencies.ts';

/** Receiver of usage events (OPS-20). */
export interface UsageReceiver {
  /** Ends a delivery in progress when the signal does. */
  readonly publisherFor: (signal: AbortSignal) => EventPublisher;
  /** `source` of every event. */
  readonly source: string;
  /** Host of the receiver, for the operator. */
  readonly endpoint: string;
}

export interface UsageDeliveryOptions extends UsageReceiver {
  readonly reporting: Pick<Reporting, 'notice'>;
  /** Logs one line for the operator. */
  readonly onFailure: (message: string) => void;
  /** Interval in ms at which the store is checked for new charge records. */
  readonly pollMs?: number;
  /** Longest wait in ms after a failed delivery. */
  readonly retryMsMax?: number;
  /** Clock in Unix ms. */
  readonly now?: () => number;
}

const POLL_MS = 500;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;
/** Shortest time between two reports of the same failure, in ms. */
const REPORT_MS = 300_000;

export type DeliveryOutcome = 'delivered' | 'failed' | 'idle';
/** Delivers the next events. */
export type DeliveryStep = (signal: AbortSignal) => Promise<DeliveryOutcome>;

/** Adds the endpoint to reports of failed deliveries, and drops those whose reason was reported a short time ago. */
export const endpointReporting = ({
  reporting,
  endpoint,
  now = Date.now,
}: Pick<UsageDeliveryOptions, 'reporting' | 'endpoint' | 'now'>): Pick<Reporting, 'notice'> => {
  const reportedAtMs = new Map<string, number>();
  return {
    notice: (name, details) => {
      if (name !== 'usage_events_failed') return reporting.notice(name, details);
      const nowMs = now();
      const reason = details.reason ?? '';
      if (nowMs - (reportedAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < REPORT_MS) return;
      reportedAtMs.set(reason, nowMs);
      reporting.notice(name, { ...details, endpoint });
    },
  };
};

/** A step that throws counts as failed. Logs the first throw in a row. */
const orFailed = (step: DeliveryStep, onFailure: UsageDeliveryOptions['onFailure']): DeliveryStep => {
  let isBroken = false;
  return async (signal) => {
    try {
      const outcome = await step(signal);
      isBroken = false;
      return outcome;
    } catch (error) {
      if (!isBroken) onFailure(`usage events cannot be read from the store: ${error}`);
      isBroken = true;
      return 'failed';
    }
  };
};

/**
 * Repeats a step until the returned function is called, which waits for the step in progress. Waits after an idle step,
 * and ever longer after failed ones.
 */
export const startDelivery = (
  step: DeliveryStep,
  { onFailure, pollMs = POLL_MS, retryMsMax = RETRY_MS_MAX }: UsageDeliveryOptions,
): (() => Promise<void>) => {
  const ending = new AbortController();
  const { signal } = ending;
  const take = orFailed(step, onFailure);
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      const outcome = await take(signal);
      failures = outcome === 'failed' ? failures + 1 : 0;
      const waitMs = failures > 0 ? Math.min(retryMsMax, RETRY_MS * 2 ** (failures - 1)) : pollMs;
      if (outcome !== 'delivered') await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const running = run();
  return async () => {
    ending.abort();
    await running;
  };
};
