import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { StoreError } from '../lambdas/core/errors/store-error.ts';
import type { Outbox } from '../lambdas/core/ledger/ledger.ts';
import type { OutboxHistory, PastEntry } from '../lambdas/core/ledger/replay.ts';
import type { VideoFiles } from '../lambdas/core/videos/dependencies.ts';
import { createS3Client } from '../lambdas/functions/wiring/clients.ts';
import { createOutbox } from '../lambdas/stores/s3/outbox.ts';
import { createOutboxHistory } from '../lambdas/stores/s3/outbox-history.ts';
import { createVideoFiles } from '../lambdas/stores/s3/video-files.ts';
import { misused } from './exit.ts';
import type { Environment } from './terminal.ts';

/** Failed call to the bucket, as opposed to a failed call to a table. */
export class BucketError extends StoreError {
  readonly where: string;

  constructor(where: string, { kind, message, cause }: StoreError) {
    super(kind, message, cause);
    this.where = where;
  }
}

export interface Bucket {
  readonly where: string;
  readonly name: string;
  readonly outbox: Outbox;
  readonly outboxHistory: OutboxHistory;
  readonly videoFiles: VideoFiles;
  client(): Promise<S3Client>;
  close(): Promise<void>;
}

export interface BucketOptions {
  readonly environment: Environment;
  readonly isLocal: boolean;
  readonly dataFolder: string;
}

/**
 * Name of the local bucket. `local/` also defines this name but cannot be imported here, because a deployment does not
 * install its dependencies.
 */
const LOCAL_BUCKET = 'media';

/**
 * Connects to the bucket, or starts its local emulator, only on first use. Throws a CliError if the bucket is unknown.
 */
export const openBucket = (options: BucketOptions): Bucket => {
  const { environment, isLocal, dataFolder } = options;
  const endings: (() => Promise<void>)[] = [];
  const isFolder = isLocal && !environment.S3_ENDPOINT && !environment.MEDIA_BUCKET;
  const name = environment.MEDIA_BUCKET || (isLocal ? LOCAL_BUCKET : '');
  if (!name) throw misused('MEDIA_BUCKET: not set. Set it, or choose an environment with --env.');
  const connect = async (): Promise<S3Client> => {
    const endpoint = isFolder ? await serveFolder(dataFolder, endings) : environment.S3_ENDPOINT || undefined;
    const client = await createS3Client({
      endpoint,
      region: environment.AWS_REGION || (isLocal ? 'us-east-1' : undefined),
    });
    endings.push(async () => client.destroy());
    return client;
  };
  let connected: Promise<S3Client> | undefined;
  const client = (): Promise<S3Client> => {
    connected ??= connect();
    return connected;
  };
  const place = isFolder ? ` in ${dataFolder}` : environment.S3_ENDPOINT && ` at ${environment.S3_ENDPOINT}`;
  const where = `bucket ${name}${place || ''}`;
  return {
    where,
    name,
    client,
    outbox: namedOutbox(where, createOutbox(client, name)),
    outboxHistory: namedHistory(where, createOutboxHistory(client, name)),
    videoFiles: namedFiles(where, createVideoFiles(client, name)),
    close: async () => {
      for (const end of endings.splice(0).reverse()) await end();
    },
  };
};

/**
 * Starts a second emulator on the local bucket's folder, because the gateway does not publish the URL of its emulator.
 * Two emulators can use the folder concurrently, because every object is a file.
 */
const serveFolder = async (dataFolder: string, endings: (() => Promise<void>)[]): Promise<string> => {
  const path = resolve(dataFolder);
  const room = join(path, 'media');
  if (!existsSync(room))
    throw misused(`${dataFolder}: contains no bucket of a local gateway. Set DATA_DIR or S3_ENDPOINT.`);
  const { startS3 } = await import('../local/emulators/s3.ts');
  const emulator = await startS3({ path, room: () => room, close: () => undefined });
  endings.push(emulator.stop);
  return emulator.endpoint;
};

const named = async <T>(where: string, call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    throw error instanceof StoreError ? new BucketError(where, error) : error;
  }
};

const namedOutbox = (where: string, outbox: Outbox): Outbox => ({
  put: (note) => named(where, outbox.put(note)),
  read: (holdId) => named(where, outbox.read(holdId)),
  list: (afterHoldId) => named(where, outbox.list(afterHoldId)),
  remove: (holdId) => named(where, outbox.remove(holdId)),
});

const namedHistory = (where: string, history: OutboxHistory): OutboxHistory => ({
  since: async function* (atMs): AsyncGenerator<PastEntry> {
    try {
      yield* history.since(atMs);
    } catch (error) {
      throw error instanceof StoreError ? new BucketError(where, error) : error;
    }
  },
});

const namedFiles = (where: string, files: VideoFiles): VideoFiles => ({
  put: (name, bytes) => named(where, files.put(name, bytes)),
  open: (name, range) => named(where, files.open(name, range)),
  remove: (name) => named(where, files.remove(name)),
});
