import type { S3Client } from '@aws-sdk/client-s3';
import type { Outbox } from '../../core/ledger/outbox.ts';
import { find, send } from './failures.ts';
import { parseNote, renderNote } from './note.ts';

const PREFIX = 'outbox/';
const nameOf = (holdId: string): string => `${PREFIX}${holdId}`;

/** One object per note. The client and its commands are loaded at the first use: almost no function ever gets there. */
export const createOutbox = (client: () => Promise<S3Client>, bucket: string): Outbox => ({
  put: async (note) => {
    const [{ PutObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const object = { Bucket: bucket, Key: nameOf(note.record.holdId), ContentType: 'application/json' };
    await send(() => s3.send(new PutObjectCommand({ ...object, Body: renderNote(note) })));
  },
  read: async (holdId) => {
    const [{ GetObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const text = await find(async () => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: nameOf(holdId) }));
      return Body?.transformToString();
    });
    return text === undefined ? undefined : parseNote(holdId, text);
  },
  list: async () => {
    const [{ ListObjectsV2Command }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const { Contents = [] } = await send(() => s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: PREFIX })));
    return Contents.flatMap(({ Key }) => (Key === undefined ? [] : [Key.slice(PREFIX.length)]));
  },
  remove: async (holdId) => {
    const [{ DeleteObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    await send(() => s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: nameOf(holdId) })));
  },
});
