import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { Options } from '@aws-sdk/lib-storage';
import type { VideoFiles } from '../../core/videos/dependencies.ts';
import { find, piecesOf, send } from './objects.ts';

const nameOf = (videoId: string): string => `videos/${videoId}.mp4`;

const PART_BYTES = 8 * 1024 * 1024;
/** Parts that are uploaded concurrently. With the next part in preparation, a file uses the memory of about four. */
const PARTS_AT_A_TIME = 2;

/** Stores finished videos, one object each. The client needs the timeouts for files. It is loaded on first use. */
export const createVideoFiles = (client: () => Promise<S3Client>, bucket: string): VideoFiles => ({
  put: async (videoId, bytes) =>
    upload(await client(), { Bucket: bucket, Key: nameOf(videoId), ContentType: 'video/mp4' }, bytes),
  open: async (videoId, range) => {
    const [{ GetObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    const object = { Bucket: bucket, Key: nameOf(videoId) };
    const Range = range && `bytes=${range.first}-${range.last}`;
    const reply = await find(() => s3.send(new GetObjectCommand({ ...object, ...(Range && { Range }) })));
    return reply && piecesOf(reply, range);
  },
  remove: async (videoId) => {
    const [{ DeleteObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
    await send(() => s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: nameOf(videoId) })));
  },
});

type Target = Pick<Required<Options['params']>, 'Bucket' | 'Key' | 'ContentType'>;

/**
 * Uploads every part with a checksum that S3 verifies, so that a part can be repeated and a damaged one is detected.
 */
const upload = async (s3: S3Client, target: Target, bytes: AsyncIterable<Uint8Array>): Promise<void> => {
  const { Upload } = await import('@aws-sdk/lib-storage');
  const source = watch(bytes);
  const uploading = new Upload({
    client: s3,
    params: { ...target, ChecksumAlgorithm: 'CRC32', Body: Readable.from(source.bytes, { highWaterMark: 1 }) },
    partSize: PART_BYTES,
    queueSize: PARTS_AT_A_TIME,
    // Otherwise the SDK would drop an upload that could not be completed, and report the failed cleanup instead of the
    // failure.
    leavePartsOnError: true,
  });
  try {
    await send(() => uploading.done());
  } catch (error) {
    if (uploading.uploadId !== undefined) await discard(s3, target, uploading.uploadId);
    throw source.broken ? source.broken.error : error;
  }
};

/** Discards an upload. If that fails, the bucket discards it within days. */
const discard = async (s3: S3Client, { Bucket, Key }: Target, UploadId: string): Promise<void> => {
  const { AbortMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
};

/**
 * Passes the bytes on and keeps the error of their source, so that this error is reported. Not a generator, because a
 * stream of a generator throws an additional error when it is abandoned.
 */
const watch = (bytes: AsyncIterable<Uint8Array>) => {
  const watched: { broken: { readonly error: unknown } | undefined; readonly bytes: AsyncIterable<Uint8Array> } = {
    broken: undefined,
    bytes: {
      [Symbol.asyncIterator]: () => {
        const pieces = bytes[Symbol.asyncIterator]();
        return {
          next: async () => {
            try {
              return await pieces.next();
            } catch (error) {
              watched.broken = { error };
              throw error;
            }
          },
          return: async () => {
            await pieces.return?.();
            return { done: true, value: undefined };
          },
        };
      },
    },
  };
  return watched;
};
