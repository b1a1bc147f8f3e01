import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import type { StoreClock } from '../../core/store-clock.ts';
import { createDynamoDB, type DynamoDB } from '../../stores/dynamodb/dynamodb.ts';
import { createHttpHandler } from '../../stores/dynamodb/http-handler.ts';

export interface ClientOptions {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
}

interface Clients {
  readonly once: DynamoDBClient;
  readonly repeating: DynamoDBClient;
}

/**
 * Creates two clients. `once` sends each call once, because a hold must never be sent twice. `repeating` lets the SDK
 * repeat a call once. `clock` learns from each reply.
 */
export const createClients = (options: ClientOptions, clock?: StoreClock): Clients => ({
  once: createClient(options, { maxAttempts: 1, requestTimeout: 1_000 }, clock),
  repeating: createClient(options, { maxAttempts: 2, requestTimeout: 2_000 }, clock),
});

/** Wraps both clients in the interface of the stores. */
export const createDatabases = ({ once, repeating }: Clients): { once: DynamoDB; repeating: DynamoDB } => ({
  once: createDynamoDB(once, Date.now),
  repeating: createDynamoDB(repeating, Date.now),
});

interface ClientTimeouts {
  readonly maxAttempts: number;
  /** Time in ms until the response of one attempt, and then the longest time without a byte of it. */
  readonly requestTimeout: number;
}

const createClient = (
  { endpoint, region }: ClientOptions,
  { maxAttempts, requestTimeout }: ClientTimeouts,
  clock: StoreClock | undefined,
): DynamoDBClient =>
  withoutExtras(
    new DynamoDBClient({
      maxAttempts,
      ...(endpoint === undefined ? {} : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
      ...(region === undefined ? {} : { region }),
      requestHandler: createHttpHandler({ connectionTimeout: 1_000, requestTimeout }, clock?.startSample),
    }),
  );

/**
 * Removes steps that take a third of a call's time: the first one copies every input and result for a log that does not
 * exist. The cache of steps stays off, because the document client would send its first call again and again.
 */
const withoutExtras = (client: DynamoDBClient): DynamoDBClient => {
  for (const name of ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']) {
    client.middlewareStack.remove(name);
  }
  return client;
};

/** Credentials for a local emulator. Some emulators require a secret of eight characters. */
export const localS3Credentials = { accessKeyId: 'local', secretAccessKey: 'local-secret' };

export interface S3Timeouts {
  readonly maxAttempts: number;
  /** Time limit in ms of one attempt: sending the request and receiving the response headers. */
  readonly requestTimeout: number;
  /** Longest time in ms without a byte in either direction. */
  readonly socketTimeout: number;
}

/** Timeouts of calls that a client waits for. */
const brief: S3Timeouts = { maxAttempts: 2, requestTimeout: 5_000, socketTimeout: 5_000 };

/**
 * Timeouts for files. A part of several megabytes is sent completely before S3 responds, and the connection is idle
 * while a slow reader consumes bytes that have already arrived.
 */
export const patient: S3Timeouts = { maxAttempts: 3, requestTimeout: 60_000, socketTimeout: 5 * 60_000 };

/** Creates one client per process, on first use. */
export const createS3Access = (options: ClientOptions, timeouts: S3Timeouts = brief): (() => Promise<S3Client>) => {
  let client: Promise<S3Client> | undefined;
  return () => {
    client ??= createS3Client(options, timeouts);
    return client;
  };
};

/** Loads the SDK on demand, because it would slow down every cold start. */
export const createS3Client = async (
  { endpoint, region }: ClientOptions,
  { maxAttempts, requestTimeout, socketTimeout }: S3Timeouts = brief,
): Promise<S3Client> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    maxAttempts,
    ...(region === undefined ? {} : { region }),
    // A local emulator has one host name for all buckets, and may not support trailing checksums.
    ...(endpoint === undefined
      ? {}
      : {
          endpoint,
          credentials: localS3Credentials,
          forcePathStyle: true,
          requestChecksumCalculation: 'WHEN_REQUIRED' as const,
        }),
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout,
      throwOnRequestTimeout: true,
      socketTimeout,
      // Each file that is read has its own connection, so that a slow reader does not delay others.
      httpsAgent: { maxSockets: 500 },
      httpAgent: { maxSockets: 500 },
    },
  });
};
