import S3rver from '@20minutes/s3rver';
import account from '@20minutes/s3rver/lib/models/account.js';
import { BucketAlreadyExists, BucketAlreadyOwnedByYou, CreateBucketCommand } from '@aws-sdk/client-s3';
import { createS3Client, localS3Credentials } from '../../lambdas/functions/wiring/clients.ts';
import type { DataFolder } from '../data-folder.ts';

export const localMediaBucket = 'media';

const host = '127.0.0.1';

export type S3StandIn = {
  readonly endpoint: string;
  /** Ends the connections that are open. Safe to call again. */
  stop(): Promise<void>;
};

/**
 * An S3 of this machine's own, in this process, its data in the folder and the bucket there. It lets anyone read and write,
 * ignores conditional writes and lifecycle rules, and shows an object while it is still being written.
 */
export async function startS3(folder: DataFolder): Promise<S3StandIn> {
  const { accessKeyId, secretAccessKey } = localS3Credentials;
  account.DUMMY_ACCOUNT.createKeyPair(accessKeyId, secretAccessKey);
  const server = new S3rver({
    address: host,
    port: 0,
    silent: true,
    directory: folder.room('media'),
    // Buckets stand in the path: no name of this machine may be taken for one.
    vhostBuckets: false,
    // The SDK signs a listing's path with a slash at its end, which this server leaves out. It lets in the unsigned anyway.
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

/** Makes the bucket on somebody's own S3, if it is not there. */
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
