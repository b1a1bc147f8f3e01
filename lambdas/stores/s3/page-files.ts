import type { S3Client } from '@aws-sdk/client-s3';
import type { PageFiles } from '../../core/images/media.ts';
import { openObject } from './open-object.ts';

/** `pages/<page>/<file>`. */
export const createPageFiles = (client: () => Promise<S3Client>, bucket: string): PageFiles => ({
  open: (page, file) => openObject(client, { Bucket: bucket, Key: `pages/${page}/${file}` }),
});
