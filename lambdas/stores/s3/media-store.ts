import type { S3Client } from '@aws-sdk/client-s3';
import type { MediaStore } from '../../core/images/media.ts';
import { send } from './failures.ts';
import { openObject } from './open-object.ts';

const keyOf = (name: string): string => `media/${name}`;

/** One object per image. The client and its commands are loaded at the first use: most requests never get there. */
export const createMediaStore = (client: () => Promise<S3Client>, bucket: string): MediaStore => ({
  put: async (name, bytes, mediaType) => {
    const [{ PutObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const object = { Bucket: bucket, Key: keyOf(name), ContentType: mediaType, ContentLength: bytes.length };
    await send(() => s3.send(new PutObjectCommand({ ...object, Body: bytes })));
  },
  open: (name) => openObject(client, { Bucket: bucket, Key: keyOf(name) }),
});
