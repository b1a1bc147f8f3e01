import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as z from 'zod';

/** Handler of a function, or a listener without a result. */
export type ChangeListener = (event: DynamoDBStreamEvent) => unknown;

export type DeliveryOptions = {
  /** Writes one line for the terminal. */
  readonly onFailure: (message: string) => void;
  /** Waits between attempts in ms. There is one more attempt than waits. */
  readonly retryDelaysMs: readonly number[];
  /** Ends all waits. */
  readonly signal: AbortSignal;
};

export type ChangeDelivery = {
  add(records: readonly DynamoDBRecord[]): void;
  /** Resolves when every added change is delivered or dropped. */
  isIdle(): boolean;
  /** Resolves when no delivery is in progress. */
  ended(): Promise<void>;
};

/** Largest batch of Lambda. */
const batchMax = 100;

/**
 * Delivers changes to one listener in order and in batches, as Lambda does: the next batch follows only after the last
 * one was accepted.
 */
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

/**
 * Retries from the first change that failed, after growing waits. After the last attempt it drops the failed change.
 */
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
      onFailure(`changes of accounts were dropped: ${failed.map(numberOf).join(', ')}`);
      return;
    }
    rest = rest.slice(rest.indexOf(first));
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
  }
}

const answerSchema = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

/**
 * Returns the failed changes, oldest first. All of the batch failed if the listener throws or names an unknown change.
 */
export async function failedOf(
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
