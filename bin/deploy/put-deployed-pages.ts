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

/** The mini app and the reference of the API. */
export const putDeployedPages = async ({ terminal, bucket, region }: PagesTarget): Promise<void> => {
  const endpoint = terminal.environment.S3_ENDPOINT || undefined;
  const client = await createS3Client({ endpoint, region });
  try {
    const files = await buildPages();
    await Promise.all(files.map((file) => client.send(new PutObjectCommand(toObject(file, bucket)))));
    terminal.status(`${files.length} files are in the bucket ${bucket}`);
  } catch (error) {
    throw failed(
      `Step 2 of 2, the pages, did not go well: ${whyOf(error)}. The stacks are up and the API is served; run the same again for the pages.`,
      error,
    );
  } finally {
    client.destroy();
  }
};
