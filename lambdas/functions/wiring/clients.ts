import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import { createDynamoDB, type DynamoDB } from '../../stores/dynamodb/dynamodb.ts';

export interface ClientOptions {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
}

interface Clients {
  readonly once: DynamoDBClient;
  readonly repeating: DynamoDBClient;
}

/**
 * Two clients, because a hold id must go over the wire once, and the SDK repeats a write whose response is lost. Every other call is
 * safe to repeat once.
 */
export const createClients = (options: ClientOptions): Clients => ({
  once: createClient(options, { maxAttempts: 1, requestTimeout: 1_000 }),
  repeating: createClient(options, { maxAttempts: 2, requestTimeout: 2_000 }),
});

/** The same two as the stores use them. */
export const createDatabases = ({ once, repeating }: Clients): { once: DynamoDB; repeating: DynamoDB } => ({
  once: createDynamoDB(once),
  repeating: createDynamoDB(repeating),
});

interface ClientTimeouts {
  readonly maxAttempts: number;
  /** Milliseconds for one attempt. */
  readonly requestTimeout: number;
}

const createClient = (
  { endpoint, region }: ClientOptions,
  { maxAttempts, requestTimeout }: ClientTimeouts,
): DynamoDBClient =>
  new DynamoDBClient({
    maxAttempts,
    ...(endpoint === undefined ? {} : { endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    ...(region === undefined ? {} : { region }),
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout,
      throwOnRequestTimeout: true,
      httpsAgent: { maxSockets: 500 },
      httpAgent: { maxSockets: 500 },
    },
  });

/** Credentials for a local emulator. Some emulators require a secret of eight characters. */
export const localS3Credentials = { accessKeyId: 'local', secretAccessKey: 'local-secret' };

export interface S3Timeouts {
  readonly maxAttempts: number;
  /** Milliseconds until an attempt has its answer's head, what it sends included. */
  readonly requestTimeout: number;
  /** Milliseconds without a byte in either direction. */
  readonly socketTimeout: number;
}

/** Timeouts of calls on which a client waits. */
const brief: S3Timeouts = { maxAttempts: 2, requestTimeout: 5_000, socketTimeout: 5_000 };

/**
 * For files: a part of several megabytes has to go out whole before it is answered, and a reader who is slow leaves the connection
 * idle for as long as it has enough to read.
 */
export const patient: S3Timeouts = { maxAttempts: 3, requestTimeout: 60_000, socketTimeout: 5 * 60_000 };

/** One client per process, made when it is first asked for. */
export const createS3Access = (options: ClientOptions, timeouts: S3Timeouts = brief): (() => Promise<S3Client>) => {
  let client: Promise<S3Client> | undefined;
  return () => {
    client ??= createS3Client(options, timeouts);
    return client;
  };
};

/** Loaded on demand: it is a large part of what a start would have to read. */
export const createS3Client = async (
  { endpoint, region }: ClientOptions,
  { maxAttempts, requestTimeout, socketTimeout }: S3Timeouts = brief,
): Promise<S3Client> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    maxAttempts,
    ...(region === undefined ? {} : { region }),
    // A stand-in has one name for all buckets, and need not know the checksums that are sent behind a body.
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
      // Every file that is being read has its own connection. A slow reader must not delay others.
      httpsAgent: { maxSockets: 500 },
      httpAgent: { maxSockets: 500 },
    },
  });
};
