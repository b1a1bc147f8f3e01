import type { S3Client } from '@aws-sdk/client-s3';
import type { ResponseStore } from '../../core/idempotency/claim-store.ts';
import type { MediaStore } from '../../core/images/media.ts';
import { find, openObject, send } from './objects.ts';

const keyOf = (name: string): string => `media/${name}`;

/**
 * Stores one object per image. The client and its commands are loaded on first use, because most requests never need
 * them.
 */
export const createMediaStore = (client: () => Promise<S3Client>, bucket: string): MediaStore => ({
  put: async (name, bytes, mediaType) => {
    const [{ PutObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const object = { Bucket: bucket, Key: keyOf(name), ContentType: mediaType, ContentLength: bytes.length };
    await send(() => s3.send(new PutObjectCommand({ ...object, Body: bytes })));
  },
  open: (name) => openObject(client, { Bucket: bucket, Key: keyOf(name) }),
});

const nameOf = (objectName: string): string => `answers/${objectName}`;

/** Stores large responses, one object each. The client is loaded on first use. */
export const createAnswerStore = (client: () => Promise<S3Client>, bucket: string): ResponseStore => ({
  put: async (objectName, content) => {
    const [{ PutObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const object = { Bucket: bucket, Key: nameOf(objectName), ContentType: 'text/plain; charset=utf-8' };
    await send(() => s3.send(new PutObjectCommand({ ...object, Body: content })));
  },
  get: async (objectName) => {
    const [{ GetObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    return find(async () => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: nameOf(objectName) }));
      return Body?.transformToString();
    });
  },
});
