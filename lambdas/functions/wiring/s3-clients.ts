import type { S3Client } from '@aws-sdk/client-s3';
import type { ClientOptions } from './dynamodb-clients.ts';

/** What a stand-in of this machine is asked with. Some insist on a secret of eight letters. */
export const localS3Credentials = { accessKeyId: 'local', secretAccessKey: 'local-secret' };

/** One client per process, made when it is first asked for. */
export const createS3Access = (options: ClientOptions): (() => Promise<S3Client>) => {
  let client: Promise<S3Client> | undefined;
  return () => {
    client ??= createS3Client(options);
    return client;
  };
};

/** Repeats a call once. Loaded on demand: it is a large part of what a start would have to read. */
export const createS3Client = async ({ endpoint, region }: ClientOptions): Promise<S3Client> => {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    maxAttempts: 2,
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
      requestTimeout: 5_000,
      throwOnRequestTimeout: true,
      socketTimeout: 5_000,
    },
  });
};
