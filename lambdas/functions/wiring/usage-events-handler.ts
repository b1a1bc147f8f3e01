import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import type { EventPublisher } from '../../core/event-publisher.ts';
import { toUsageEvent, USAGE_UNREADABLE, type UsageEvent } from '../../protocols/account/usage-event.ts';
import { readSettings } from '../../settings.ts';
import { readNewCharge } from '../../stores/dynamodb/charge-stream.ts';
import { createEventBus } from '../../stores/eventbridge/event-bus.ts';
import type { Reporting, UsageEventsFunctionDependencies } from './dependencies.ts';
import { type Environment, systemClock } from './ledger.ts';
import { createReporting } from './reporting.ts';

/**
 * Handles new charge records of the accounts table, in the order of each account's writes (OPS-20). Not an HTTP
 * function. A record that is returned as failed is delivered again, with all records after it.
 */
export const createUsageEventsHandler =
  ({ publish, source, reporting }: UsageEventsFunctionDependencies) =>
  async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    const read = Records.map((record) => ({ sequenceNumber: sequenceNumberOf(record), ...readEvent(record, source) }));
    for (const { sequenceNumber, event, isNamed } of read) {
      if (!isNamed) reporting.notice('usage_event_unreadable', { sequenceNumber });
      if (event) reportUnreadable(event, reporting);
    }
    const events = read.flatMap(({ event }) => event ?? []);
    const { failed } = await publishAndReport(publish, events, reporting);
    const failures = read.filter(({ event, isNamed }) => !isNamed || (event !== undefined && failed.has(event.id)));
    return { batchItemFailures: failures.map(({ sequenceNumber }) => ({ itemIdentifier: sequenceNumber })) };
  };

/** Reports an event that names a charge record instead of its receipt, because the record cannot be read. */
export const reportUnreadable = (event: UsageEvent, { notice }: Pick<Reporting, 'notice'>): void => {
  if (event.type !== USAGE_UNREADABLE) return;
  const { account_id: accountId, request_id: requestId } = event.data;
  notice('usage_event_unreadable', { accountId, requestId });
};

/** Publishes events. Reports how many have not arrived, once for all of them. */
export const publishAndReport = async (
  publish: EventPublisher,
  events: readonly UsageEvent[],
  { notice }: Pick<Reporting, 'notice'>,
): Promise<{ readonly failed: ReadonlySet<string> }> => {
  if (events.length === 0) return { failed: new Set() };
  const { failed, reason } = await publish(events);
  if (failed.size > 0) notice('usage_events_failed', { failed: String(failed.size), reason: reason ?? 'unknown' });
  return { failed };
};

const sequenceNumberOf = ({ dynamodb }: DynamoDBRecord): string => {
  if (dynamodb?.SequenceNumber) return dynamodb.SequenceNumber;
  throw new Error('a record of the stream has no sequence number');
};

/** A record that does not name its item cannot become an event. */
const readEvent = (
  record: DynamoDBRecord,
  source: string,
): { readonly event: UsageEvent | undefined; readonly isNamed: boolean } => {
  try {
    const charge = readNewCharge(record);
    return { event: charge && toUsageEvent(charge, source), isNamed: true };
  } catch {
    return { event: undefined, isNamed: false };
  }
};

/** Throws an Error without a bus, because the function exists only with one. */
export const usageEventsDependenciesFromEnvironment = (environment: Environment): UsageEventsFunctionDependencies => {
  const settings = readSettings(environment);
  const bus = settings.USAGE_EVENTS_BUS;
  if (bus === undefined) throw new Error('USAGE_EVENTS_BUS: missing. Set the name or the ARN of an event bus.');
  let client: Promise<EventBridgeClient> | undefined;
  return {
    publish: createEventBus({
      client: () => {
        client ??= createClient(environment.AWS_REGION, settings.EVENTS_ENDPOINT);
        return client;
      },
      bus,
      clock: systemClock,
      random: Math.random,
    }),
    source: settings.USAGE_EVENTS_SOURCE,
    reporting: createReporting(settings),
  };
};

/** Each attempt has 3 s, so that all retries of a batch end before the function does. */
const createClient = async (region: string | undefined, endpoint: string | undefined): Promise<EventBridgeClient> => {
  const { EventBridgeClient } = await import('@aws-sdk/client-eventbridge');
  return new EventBridgeClient({
    maxAttempts: 1,
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: 3_000,
      throwOnRequestTimeout: true,
      socketTimeout: 3_000,
    },
  });
};
