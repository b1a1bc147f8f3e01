import { PutObjectCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '../lambdas/functions/wiring/s3-clients.ts';
import type { PageFile } from '../lib/pages/build-pages.ts';
import { toObject } from '../lib/pages/page-object.ts';
import { localMediaBucket } from './emulators/s3.ts';

/** Puts the pages where the functions look for them. */
export async function putPages(files: readonly PageFile[], endpoint: string): Promise<void> {
  const client = await createS3Client({ endpoint, region: 'us-east-1' });
  try {
    await Promise.all(files.map((file) => client.send(new PutObjectCommand(toObject(file, localMediaBucket)))));
  } finally {
    client.destroy();
  }
}
