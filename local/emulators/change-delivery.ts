import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as z from 'zod';

/** A function's handler, or whoever only listens and answers nothing. */
export type ChangeListener = (event: DynamoDBStreamEvent) => unknown;

export type DeliveryOptions = {
  /** One line for a person. */
  readonly onFailure: (message: string) => void;
  /** Waits between attempts, of which there is one more. */
  readonly retryDelaysMs: readonly number[];
  /** Ends all waiting. */
  readonly signal: AbortSignal;
};

export type ChangeDelivery = {
  add(records: readonly DynamoDBRecord[]): void;
  /** Everything that was added has been taken, or given up. */
  isIdle(): boolean;
  /** Resolves when nothing is under way any more. */
  ended(): Promise<void>;
};

/** As many as Lambda hands over at once. */
const batchMax = 100;

/** Hands changes to one listener, in order and in batches, as Lambda does: it is not given the next before it has taken the last. */
export function startDelivery(listener: ChangeListener, options: DeliveryOptions): ChangeDelivery {
  let waiting: readonly DynamoDBRecord[] = [];
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (waiting.length > 0 && !options.signal.aborted) {
      const batch = waiting.slice(0, batchMax);
      await deliver(listener, batch, options);
      if (!options.signal.aborted) waiting = waiting.slice(batch.length);
    }
    running = undefined;
  };
  return {
    add(records) {
      if (records.length === 0) return;
      waiting = [...waiting, ...records];
      running ??= run();
    },
    isIdle: () => waiting.length === 0,
    ended: async () => running,
  };
}

/** Again from the first that failed, after growing waits; then what failed the last time is given up. */
async function deliver(
  listener: ChangeListener,
  batch: readonly DynamoDBRecord[],
  { onFailure, retryDelaysMs, signal }: DeliveryOptions,
): Promise<void> {
  let rest = batch;
  for (const delayMs of [...retryDelaysMs, undefined]) {
    const failed = await failedOf(listener, rest);
    const [first] = failed;
    if (first === undefined || signal.aborted) return;
    if (delayMs === undefined) {
      onFailure(`changes of accounts were given up: ${failed.map(numberOf).join(', ')}`);
      return;
    }
    rest = rest.slice(rest.indexOf(first));
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

const answerSchema = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

/** Oldest first. All of them when the listener throws, or names one that it was not given. */
async function failedOf(
  listener: ChangeListener,
  batch: readonly DynamoDBRecord[],
): Promise<readonly DynamoDBRecord[]> {
  try {
    const answer = answerSchema.safeParse(await listener({ Records: [...batch] })).data;
    const named = new Set(answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const failed = batch.filter((record) => named.has(numberOf(record)));
    return failed.length === named.size ? failed : batch;
  } catch {
    return batch;
  }
}

function numberOf({ dynamodb }: DynamoDBRecord): string {
  return dynamodb?.SequenceNumber ?? '';
}
