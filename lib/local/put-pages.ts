import { PutObjectCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '../../lambdas/functions/wiring/s3-clients.ts';
import type { PageFile } from '../pages/build-pages.ts';
import { localMediaBucket } from './s3-stand-in.ts';

/** Puts the pages where the functions look for them. */
export async function putPages(files: readonly PageFile[], endpoint: string): Promise<void> {
  const client = await createS3Client({ endpoint, region: 'us-east-1' });
  const put = ({ page, file, bytes, mediaType }: PageFile) =>
    client.send(
      new PutObjectCommand({
        Bucket: localMediaBucket,
        Key: `pages/${page}/${file}`,
        Body: bytes,
        ContentLength: bytes.length,
        ContentType: mediaType,
      }),
    );
  try {
    await Promise.all(files.map(put));
  } finally {
    client.destroy();
  }
}
