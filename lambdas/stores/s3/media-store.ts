import type { S3Client } from '@aws-sdk/client-s3';
import type { MediaStore } from '../../core/images/media-store.ts';
import { find, send } from './failures.ts';
import { piecesOf } from './object-body.ts';

const keyOf = (name: string): string => `media/${name}`;

/** One object per image. The client and its commands are loaded at the first use: most requests never get there. */
export const createMediaStore = (client: () => Promise<S3Client>, bucket: string): MediaStore => ({
  put: async (name, bytes, mediaType) => {
    const [{ PutObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const object = { Bucket: bucket, Key: keyOf(name), ContentType: mediaType, ContentLength: bytes.length };
    await send(() => s3.send(new PutObjectCommand({ ...object, Body: bytes })));
  },
  open: async (name) => {
    const [{ GetObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const reply = await find(() => s3.send(new GetObjectCommand({ Bucket: bucket, Key: keyOf(name) })));
    if (!reply) return undefined;
    const { ContentType: mediaType = 'application/octet-stream', ContentLength: length } = reply;
    if (length === undefined) throw new Error('an object was opened and has no length');
    return { mediaType, length, bytes: piecesOf(reply) };
  },
});
