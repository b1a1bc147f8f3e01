import type { EventBridgeClient, PutEventsRequestEntry, PutEventsResponse } from '@aws-sdk/client-eventbridge';
import { type Clock, sleep } from '../../core/clock.ts';
import type { CloudEvent, EventPublisher, Publication } from '../../core/event-publisher.ts';

/** Limit of `PutEvents`. https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
const ENTRIES_MAX = 10;
/**
 * Limit of all entries of a call, in bytes. AWS documents 256 KB, and announced 1 MB on 2026-01-29. An event has about
 * 1 KB, so the lower limit costs nothing.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html (2026-11-27)
 */
const BYTES_MAX = 256_000;

/** Rules of a bus select usage events by this value. */
const DETAIL_TYPE = 'usage';

/**
 * Time in ms after which no further batch is sent, so that the function can report the rest as failed before its
 * timeout of a minute.
 */
const BUDGET_MS = 30_000;

/** Waits in ms before the failed entries of a call are sent again. */
const RETRY_DELAYS_MS = [200, 800] as const;

export interface EventBusOptions {
  readonly client: () => Promise<EventBridgeClient>;
  /** Name or ARN of the bus. */
  readonly bus: string;
  readonly clock: Clock;
  /** Random number from 0 up to 1, which spreads the retries of many functions. */
  readonly random: () => number;
}

/** Publishes events to a bus. Retries each failed entry twice, and returns those that EventBridge did not accept. */
export const createEventBus =
  ({ client, bus, clock, random }: EventBusOptions): EventPublisher =>
  async (events) => {
    const put = async (batch: readonly CloudEvent[]): Promise<Publication> => {
      let rest = await putOnce(await client(), bus, batch);
      for (const delayMs of RETRY_DELAYS_MS) {
        if (rest.failed.size === 0) return rest;
        await sleep(clock, delayMs * (0.5 + random()));
        const { failed } = rest;
        rest = await putOnce(
          await client(),
          bus,
          batch.filter(({ id }) => failed.has(id)),
        );
      }
      return rest;
    };
    const endsAtMs = clock.now() + BUDGET_MS;
    const failed = new Set<string>();
    let reason: string | undefined;
    for (const batch of toBatches(events)) {
      const published = clock.now() < endsAtMs ? await put(batch) : allFailed(batch, 'no time is left');
      for (const id of published.failed) failed.add(id);
      reason ??= published.reason;
    }
    return { failed, ...(reason === undefined ? {} : { reason }) };
  };

/** Puts the events of one call in batches, in order. */
const toBatches = (events: readonly CloudEvent[]): readonly (readonly CloudEvent[])[] => {
  const batches: CloudEvent[][] = [];
  let bytes = 0;
  for (const event of events) {
    const size = sizeOf(event);
    const batch = batches.at(-1);
    if (batch && batch.length < ENTRIES_MAX && bytes + size <= BYTES_MAX) {
      batch.push(event);
      bytes += size;
    } else {
      batches.push([event]);
      bytes = size;
    }
  }
  return batches;
};

/** Size of an entry. The time counts as 14 bytes. */
const sizeOf = (event: CloudEvent): number =>
  14 + Buffer.byteLength(DETAIL_TYPE) + Buffer.byteLength(event.source) + Buffer.byteLength(JSON.stringify(event));

const toEntry = (event: CloudEvent, bus: string): PutEventsRequestEntry => ({
  EventBusName: bus,
  Source: event.source,
  DetailType: DETAIL_TYPE,
  Detail: JSON.stringify(event),
  ...(event.time === undefined ? {} : { Time: new Date(event.time) }),
});

const putOnce = async (client: EventBridgeClient, bus: string, events: readonly CloudEvent[]): Promise<Publication> => {
  const { PutEventsCommand } = await import('@aws-sdk/client-eventbridge');
  try {
    const result = await client.send(new PutEventsCommand({ Entries: events.map((event) => toEntry(event, bus)) }));
    return toPublication(events, result);
  } catch (error) {
    return allFailed(events, error instanceof Error ? error.name : 'unknown');
  }
};

const allFailed = (events: readonly CloudEvent[], reason: string): Publication => ({
  failed: new Set(events.map(({ id }) => id)),
  reason,
});

/** EventBridge reports each entry at its place. An entry without an id counts as failed. */
const toPublication = (events: readonly CloudEvent[], { Entries = [] }: PutEventsResponse): Publication => {
  const failed = events.flatMap(({ id }, index) => (Entries[index]?.EventId === undefined ? [{ id, index }] : []));
  const [first] = failed;
  if (!first) return { failed: new Set() };
  return {
    failed: new Set(failed.map(({ id }) => id)),
    reason: Entries[first.index]?.ErrorCode ?? 'no confirmation',
  };
};
