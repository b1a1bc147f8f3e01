import S3rver from '@20minutes/s3rver';
import account from '@20minutes/s3rver/lib/models/account.js';
import { BucketAlreadyExists, BucketAlreadyOwnedByYou, CreateBucketCommand } from '@aws-sdk/client-s3';
import { createS3Client, localS3Credentials } from '../../lambdas/functions/wiring/clients.ts';
import type { DataFolder } from '../data-folder.ts';

export const localMediaBucket = 'media';

const host = '127.0.0.1';

export type S3StandIn = {
  readonly endpoint: string;
  /** Closes the open connections. Can be called again. */
  stop(): Promise<void>;
};

/**
 * Starts an S3 emulator in this process, with its data and the bucket in the folder. It authorizes every request,
 * ignores conditional writes and lifecycle rules, and shows an object before it is completely written.
 */
export async function startS3(folder: DataFolder): Promise<S3StandIn> {
  const { accessKeyId, secretAccessKey } = localS3Credentials;
  account.DUMMY_ACCOUNT.createKeyPair(accessKeyId, secretAccessKey);
  const server = new S3rver({
    address: host,
    port: 0,
    silent: true,
    directory: folder.room('media'),
    // Buckets are in the path: no host name of this machine is a bucket.
    vhostBuckets: false,
    // The SDK signs the path of a listing with a trailing slash, which this server omits when it checks the signature.
    // The server also accepts unsigned requests.
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: localMediaBucket }],
  });
  const { port } = await server.run();
  let stopped: Promise<void> | undefined;
  return {
    endpoint: `http://${host}:${port}`,
    stop() {
      stopped ??= server.close();
      server.httpServer.closeAllConnections();
      return stopped;
    },
  };
}

/** Creates the bucket on an external S3, if it does not exist. */
export async function createMediaBucket(endpoint: string): Promise<void> {
  const client = await createS3Client({ endpoint, region: 'us-east-1' });
  try {
    await client.send(new CreateBucketCommand({ Bucket: localMediaBucket }));
  } catch (error) {
    if (!(error instanceof BucketAlreadyOwnedByYou || error instanceof BucketAlreadyExists)) throw error;
  } finally {
    client.destroy();
  }
}
