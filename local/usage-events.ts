import { setTimeout as sleep } from 'node:timers/promises';
import type { EventPublisher } from '../lambdas/core/event-publisher.ts';
import type { Reporting } from '../lambdas/functions/wiring/dependencies.ts';
import {
  createUsageEventsHandler,
  publishAndReport,
  reportUnreadable,
} from '../lambdas/functions/wiring/usage-events-handler.ts';
import { toUsageEvent } from '../lambdas/protocols/account/usage-event.ts';
import { readPosition, writePosition } from './account-changes.ts';
import { failedOf } from './emulators/change-delivery.ts';
import { type ChangeStream, openStream, pageMax } from './emulators/change-stream.ts';
import type { Database } from './stores/sqlite/database.ts';
import { type ChargeDelivery, deliverCharges, queueCharges } from './stores/sqlite/usage-events.ts';

/** Receiver of usage events (OPS-20). */
export interface UsageReceiver {
  /** Ends a delivery in progress when the signal does. */
  readonly publisherFor: (signal: AbortSignal) => EventPublisher;
  /** `source` of every event. */
  readonly source: string;
}

export interface UsageDeliveryOptions extends UsageReceiver {
  readonly reporting: Pick<Reporting, 'notice'>;
  /** Logs one line for the operator. */
  readonly onFailure: (message: string) => void;
  /** Interval in ms at which the store is checked for new charge records. */
  readonly pollMs?: number;
  /** Longest wait in ms after a failed delivery. */
  readonly retryMsMax?: number;
}

const POLL_MS = 500;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 60_000;

type Outcome = 'delivered' | 'failed' | 'idle';
type Step = (signal: AbortSignal) => Promise<Outcome>;

/** A step that throws counts as failed. Logs the first throw in a row. */
const orFailed = (step: Step, onFailure: UsageDeliveryOptions['onFailure']): Step => {
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
const startLoop = (
  step: Step,
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

/**
 * Delivers the events of charge records in the embedded store. They wait in the store until their delivery, also while
 * no gateway runs. The returned function ends the delivery.
 */
export const followQueue = async (db: Database, options: UsageDeliveryOptions): Promise<() => Promise<void>> => {
  const { publisherFor, source, reporting } = options;
  await queueCharges(db);
  const deliverTo =
    (publish: EventPublisher): ChargeDelivery =>
    async (charges) => {
      const prepared = charges.map((charge) => ({ charge, event: toUsageEvent(charge, source) }));
      const events = prepared.flatMap(({ event }) => event ?? []);
      for (const event of events) reportUnreadable(event, reporting);
      const { failed } = await publishAndReport(publish, events, reporting);
      return new Set(prepared.flatMap(({ charge, event }) => (event && failed.has(event.id) ? [charge] : [])));
    };
  return startLoop(
    (signal) => deliverCharges(db, { now: Date.now, deliver: deliverTo(publisherFor(signal)) }),
    options,
  );
};

export interface StreamOfCharges {
  readonly endpoint: string;
  readonly table: string;
  /** File with the position up to which events were delivered. */
  readonly positionFile: string;
}

/**
 * Delivers the events of charge records in a DynamoDB table. Reads on only after the delivery of what was read, so that
 * the stream keeps the backlog. The returned function ends the delivery.
 */
export const followStream = async (
  { endpoint, table, positionFile }: StreamOfCharges,
  options: UsageDeliveryOptions,
): Promise<() => Promise<void>> => {
  const stream = await openStream(endpoint, table, readPosition(positionFile));
  if (stream === undefined) {
    options.onFailure(`the table ${table} has no stream: no usage event is sent`);
    return async () => undefined;
  }
  const stop = startLoop(createStreamStep(stream, positionFile, options), options);
  return async () => {
    await stop();
    stream.close();
  };
};

/** Records of one delivery. */
const BATCH_MAX = 100;

/** Returns the step that delivers the next records, and stores the position behind those that were delivered. */
const createStreamStep = (stream: ChangeStream, positionFile: string, options: UsageDeliveryOptions): Step => {
  let rest: Awaited<ReturnType<ChangeStream['read']>> = [];
  let isFullPage = false;
  return async (signal) => {
    if (rest.length === 0) {
      rest = await stream.read();
      isFullPage = rest.length === pageMax;
    }
    const batch = rest.slice(0, BATCH_MAX);
    if (batch.length === 0) return 'idle';
    const handler = createUsageEventsHandler({ ...options, publish: options.publisherFor(signal) });
    const [first] = await failedOf(handler, batch);
    const delivered = first === undefined ? batch : batch.slice(0, batch.indexOf(first));
    rest = rest.slice(delivered.length);
    const sequenceNumber = delivered.at(-1)?.dynamodb?.SequenceNumber;
    if (sequenceNumber !== undefined) writePosition(positionFile, { streamArn: stream.arn, sequenceNumber });
    if (first !== undefined) return 'failed';
    return rest.length > 0 || isFullPage ? 'delivered' : 'idle';
  };
};
