import { PutObjectCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '../../lambdas/functions/wiring/clients.ts';
import { buildPages } from '../../lib/pages/build-pages.ts';
import { toObject } from '../../lib/pages/page-object.ts';
import { failed, whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

export interface PagesTarget {
  readonly terminal: Terminal;
  readonly bucket: string;
  readonly region: string;
}

/** Uploads the mini app and the API reference to the bucket. Throws a CliError. */
export const putDeployedPages = async ({ terminal, bucket, region }: PagesTarget): Promise<void> => {
  const endpoint = terminal.environment.S3_ENDPOINT || undefined;
  const client = await createS3Client({ endpoint, region });
  try {
    const files = await buildPages();
    await Promise.all(files.map((file) => client.send(new PutObjectCommand(toObject(file, bucket)))));
    terminal.status(`Uploaded ${files.length} files to the bucket ${bucket}`);
  } catch (error) {
    throw failed(
      `Step 2 of 2 (pages) failed: ${whyOf(error)}. The API is live. Run the same command again to upload the pages.`,
      error,
    );
  } finally {
    client.destroy();
  }
};
