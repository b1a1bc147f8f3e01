import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { type ChangeDelivery, type ChangeListener, startDelivery } from './emulators/change-delivery.ts';
import { type ChangeStream, oldest, openStream, type Position, pageMax } from './emulators/change-stream.ts';

/*
 * What the accounts table's stream and its event source mapping are in AWS. Nothing is read before the first listener is there, and
 * each has a queue of its own: one that is slow, or fails, holds up no other.
 */

export type AccountChanges = {
  /** From now on, every write of every item, soon after it happened. The answer ends it. */
  subscribe(listener: ChangeListener): () => void;
  /** Resolves when no listener is at work any more, or has had its time. */
  stop(): Promise<void>;
};

export type FollowOptions = {
  readonly endpoint: string;
  readonly table: string;
  /** One line for a person. */
  readonly onFailure: (message: string) => void;
  /** Where to note how far every listener is, so that no run passes over what was written before it. */
  readonly positionFile?: string;
  readonly pollMs?: number;
  /** How long to wait before a listener that failed is tried again; after the last of them it is not. */
  readonly retryDelaysMs?: readonly number[];
};

const pollMs = 300;
const retryDelaysMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000] as const;
const stopGraceMs = 1_000;

/** Begins behind what an earlier run noted, without a note at what is oldest, and without a file for it now. Of a table without a stream it tells that once, and nothing ever. */
export async function followChanges(options: FollowOptions): Promise<AccountChanges> {
  const { endpoint, table, onFailure, positionFile } = options;
  const stream = await openStream(endpoint, table, positionFile === undefined ? undefined : readPosition(positionFile));
  if (stream === undefined) {
    onFailure(`the table ${table} has no stream: nobody is told of low balances, and the ledger is not shown live`);
    return { subscribe: () => () => undefined, stop: async () => undefined };
  }
  const ending = new AbortController();
  const deliveries = new Set<ChangeDelivery>();
  const reading = keepReading(stream, deliveries, options, ending.signal).catch((error: unknown) =>
    onFailure(`the changes of accounts are not followed any more: ${error}`),
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

/** Of failures in a row, the first is told. */
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

/** Of a position that lasts, where there is a file for it. */
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

/** The oldest where there is none, or one that was torn by a crash. */
function readPosition(file: string): Position {
  try {
    return positionSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return oldest;
  }
}

function writePosition(file: string, position: Position): void {
  writeFileSync(file, JSON.stringify(position), { mode: 0o600 });
}
