import { createUsageEventsHandler } from '../lambdas/functions/wiring/usage-events-handler.ts';
import { readPosition, writePosition } from './account-changes.ts';
import { failedOf } from './emulators/change-delivery.ts';
import { type ChangeStream, openStream, pageMax } from './emulators/change-stream.ts';
import { type DeliveryStep, endpointReporting, startDelivery, type UsageDeliveryOptions } from './usage-delivery.ts';

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
  const stop = startDelivery(
    createStreamStep(stream, positionFile, { ...options, reporting: endpointReporting(options) }),
    options,
  );
  return async () => {
    await stop();
    stream.close();
  };
};

/** Records of one delivery. */
const BATCH_MAX = 100;

/** Returns the step that delivers the next records, and stores the position behind those that were delivered. */
const createStreamStep = (stream: ChangeStream, positionFile: string, options: UsageDeliveryOptions): DeliveryStep => {
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
