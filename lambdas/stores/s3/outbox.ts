import type { S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { OUTBOX_PAGE, type Outbox, type OutboxEntry } from '../../core/ledger/ledger.ts';
import { find, send } from './objects.ts';

export const OUTBOX_PREFIX = 'outbox/';

const nameOf = (holdId: string): string => `${OUTBOX_PREFIX}${holdId}`;

/**
 * Stores one object per outbox entry. The client and its commands are loaded on first use, because most functions never
 * need them.
 */
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
  list: async (afterHoldId) => {
    const [{ ListObjectsV2Command }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const holdIds: string[] = [];
    let after = afterHoldId;
    // S3 may return fewer names than it could before the last one.
    for (;;) {
      const command = new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: OUTBOX_PREFIX,
        MaxKeys: OUTBOX_PAGE - holdIds.length,
        ...(after !== undefined && { StartAfter: nameOf(after) }),
      });
      const { Contents = [], IsTruncated } = await send(() => s3.send(command));
      for (const { Key } of Contents) if (Key !== undefined) holdIds.push(Key.slice(OUTBOX_PREFIX.length));
      if (!IsTruncated || Contents.length === 0 || holdIds.length >= OUTBOX_PAGE) return holdIds;
      after = holdIds.at(-1);
    }
  },
  remove: async (holdId) => {
    const [{ DeleteObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    await send(() => s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: nameOf(holdId) })));
  },
});

/** Amounts are strings, because JSON numbers cannot hold every amount. */
const picos = z
  .string()
  .regex(/^\d{1,38}$/)
  .transform(BigInt);

/** Fields of a newer release are ignored. An outcome of a newer release is not, because it decides the charge. */
const noteSchema = z.object({
  record: z.object({
    accountId: z.string().min(1),
    holdId: z.string().min(1),
    requestId: z.string().min(1),
    outcome: z.enum(['settled', 'released']),
    amountPicos: picos,
    at: z.int(),
    reason: z.string().exactOptional(),
    model: z.string().exactOptional(),
    usage: z.record(z.string(), z.number()).exactOptional(),
    prices: z.record(z.string(), picos).exactOptional(),
    overage: z.boolean().exactOptional(),
    implausible: z.boolean().exactOptional(),
    cutAtStop: z.boolean().exactOptional(),
    answer: z.string().exactOptional(),
    endUser: z.string().exactOptional(),
    ignored: z.array(z.string()).exactOptional(),
    keyId: z.string().exactOptional(),
    endpoint: z.string().exactOptional(),
    provider: z.string().exactOptional(),
    firstByteMs: z.int().exactOptional(),
    totalMs: z.int().exactOptional(),
    costPicos: picos.exactOptional(),
    uncollectedPicos: picos.exactOptional(),
    usesAllowance: z.boolean().exactOptional(),
    silentDeadline: z.boolean().exactOptional(),
    allowancePicos: picos.exactOptional(),
    cap: z.object({ keyId: z.string(), period: z.string() }).exactOptional(),
  }),
  holdAmountPicos: picos,
});

export const renderNote = (note: OutboxEntry): string =>
  JSON.stringify(note, (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));

/**
 * Parses an outbox entry. Throws Error, not StoreError, if it is not an entry of that hold, or has an outcome of a newer
 * release: money waits in it, and an operator must look at it.
 */
export const parseNote = (holdId: string, text: string): OutboxEntry => {
  const unreadable = `the note outbox/${holdId} cannot be read`;
  let note: OutboxEntry;
  try {
    note = noteSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(unreadable, { cause });
  }
  if (note.record.holdId !== holdId) throw new Error(`${unreadable}: it is of another hold`);
  return note;
};
