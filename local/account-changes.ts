import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { type ChangeDelivery, type ChangeListener, startDelivery } from './emulators/change-delivery.ts';
import { type ChangeStream, oldest, openStream, type Position, pageMax } from './emulators/change-stream.ts';

/*
 * Corresponds to the stream of the accounts table and its event source mapping in AWS. Nothing is read before the first
 * listener exists. Each listener has its own queue, so that a slow or failing one does not delay the others.
 */

export type AccountChanges = {
  /** Delivers every later write of every item soon after it happens. The returned function ends the delivery. */
  subscribe(listener: ChangeListener): () => void;
  /** Stops the delivery. Resolves when no listener runs anymore, or after one second. */
  stop(): Promise<void>;
};

export type FollowOptions = {
  readonly endpoint: string;
  readonly table: string;
  /** Writes one line for the terminal. */
  readonly onFailure: (message: string) => void;
  /** File with the position of every listener, so that the next run misses no write. */
  readonly positionFile?: string;
  readonly pollMs?: number;
  /** Waits in ms before the retries of a failed listener. After the last one the change is dropped. */
  readonly retryDelaysMs?: readonly number[];
};

const pollMs = 300;
const retryDelaysMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000] as const;
const stopGraceMs = 1_000;

/**
 * Follows the changes from the position that an earlier run has stored in the file, or from the oldest change if there
 * is none. Without a file, starts at the newest change. If the table has no stream, reports that once and follows
 * nothing.
 */
export async function followChanges(options: FollowOptions): Promise<AccountChanges> {
  const { endpoint, table, onFailure, positionFile } = options;
  const stream = await openStream(endpoint, table, positionFile === undefined ? undefined : readPosition(positionFile));
  if (stream === undefined) {
    onFailure(
      `the table ${table} has no stream: no notification about a low balance is sent, and the ledger is not shown live`,
    );
    return { subscribe: () => () => undefined, stop: async () => undefined };
  }
  const ending = new AbortController();
  const deliveries = new Set<ChangeDelivery>();
  const reading = keepReading(stream, deliveries, options, ending.signal).catch((error: unknown) =>
    onFailure(
      `the changes of accounts are no longer read. Restart the gateway to get low-balance notifications and the live ledger again: ${error}`,
    ),
  );
  return {
    subscribe(listener) {
      const delivery = startDelivery(listener, {
        onFailure,
        retryDelaysMs: options.retryDelaysMs ?? retryDelaysMs,
        signal: ending.signal,
      });
      deliveries.add(delivery);
      return () => deliveries.delete(delivery);
    },
    async stop() {
      ending.abort();
      const ended = Promise.all([reading, ...[...deliveries].map((delivery) => delivery.ended())]);
      await Promise.race([ended, sleep(stopGraceMs, undefined, { ref: false })]);
      stream.close();
    },
  };
}

async function keepReading(
  stream: ChangeStream,
  deliveries: ReadonlySet<ChangeDelivery>,
  options: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  const tellOnce = createFirstOnly(options.onFailure);
  const note = createNote(stream.arn, options.positionFile);
  while (!signal.aborted) {
    const records = deliveries.size > 0 ? await stream.read().catch(tellOnce.failed) : [];
    if (records) tellOnce.worked();
    for (const delivery of deliveries) delivery.add(records ?? []);
    note.read(records?.at(-1)?.dynamodb?.SequenceNumber);
    if (records?.length !== pageMax)
      await sleep(options.pollMs ?? pollMs, undefined, { signal }).catch(() => undefined);
    if ([...deliveries].every((delivery) => delivery.isIdle())) note.write();
  }
}

/** Reports only the first of several failures in a row. */
function createFirstOnly(onFailure: FollowOptions['onFailure']) {
  let isAway = false;
  return {
    failed(error: unknown): undefined {
      if (!isAway) onFailure(`the stream of the accounts cannot be read: ${error}`);
      isAway = true;
    },
    worked() {
      isAway = false;
    },
  };
}

/** Remembers the position of the last record that was read, and writes it to the file if there is one. */
function createNote(streamArn: string, file: string | undefined) {
  let lastRead: string | undefined;
  let written: string | undefined;
  return {
    read(sequenceNumber: string | undefined) {
      lastRead = sequenceNumber ?? lastRead;
    },
    write() {
      if (file === undefined || lastRead === undefined || lastRead === written) return;
      writePosition(file, { streamArn, sequenceNumber: lastRead });
      written = lastRead;
    },
  };
}

const positionSchema = z.object({ streamArn: z.string(), sequenceNumber: z.string().regex(/^\d+$/) });

/** Starts at the oldest record if there is no position, or if a crash damaged it. */
export function readPosition(file: string): Position {
  try {
    return positionSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return oldest;
  }
}

export function writePosition(file: string, position: Position): void {
  writeFileSync(file, JSON.stringify(position), { mode: 0o600 });
}
