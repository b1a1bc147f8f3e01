import { Readable } from 'node:stream';
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { StoreError } from '../../core/errors/store-error.ts';
import type { StoredMedia } from '../../core/images/media.ts';
import type { ByteRange } from '../../core/videos/dependencies.ts';
import { isProgrammingError } from '../programming-errors.ts';

/** Returns undefined if the object does not exist. The client and its commands are loaded on first use. */
export const openObject = async (
  client: () => Promise<S3Client>,
  place: { readonly Bucket: string; readonly Key: string },
): Promise<StoredMedia | undefined> => {
  const [{ GetObjectCommand }, s3] = await Promise.all([import('@aws-sdk/client-s3'), client()]);
  const reply = await find(() => s3.send(new GetObjectCommand(place)));
  if (!reply) return undefined;
  const { ContentType: mediaType = 'application/octet-stream', ContentLength: length } = reply;
  if (length === undefined) throw new Error('an object was opened and has no length');
  return { mediaType, length, bytes: piecesOf(reply) };
};

/**
 * Bytes of an object. Ends after the requested range, because the emulator of S3 returns the whole file for a range of
 * the first byte.
 */
export const piecesOf = ({ Body }: GetObjectCommandOutput, range?: ByteRange): AsyncIterable<Uint8Array> => {
  if (!(Body instanceof Readable)) throw new Error('an object was opened and has no stream');
  let left = range ? range.last - range.first + 1 : Number.POSITIVE_INFINITY;
  const finish = async (): Promise<IteratorReturnResult<undefined>> => {
    Body.destroy();
    return { done: true, value: undefined };
  };
  return {
    // Not a generator: a generator that was not started would leave the connection open.
    [Symbol.asyncIterator]: () => {
      const pieces: AsyncIterator<Buffer> = Body[Symbol.asyncIterator]();
      return {
        next: async () => {
          const step = await send(() => pieces.next());
          if (step.done) return { done: true, value: undefined };
          if (left <= 0) return finish();
          const piece = step.value.subarray(0, left);
          left -= piece.length;
          return { done: false, value: piece };
        },
        return: finish,
      };
    },
  };
};

/** Returns undefined if the object does not exist. Any other error becomes a StoreError. */
export const find = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await call();
  } catch (error) {
    // A missing bucket is also a 404 and must not look like a missing object.
    if (error instanceof Error && error.name === 'NoSuchKey') return undefined;
    throw toStoreError(error);
  }
};

/** Runs one call and converts its error to a StoreError. Throws a programming error unchanged. */
export const send = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    throw toStoreError(error);
  }
};

/** Compares names, because the error classes would load the client, which is loaded on demand. */
const throttles: ReadonlySet<string> = new Set([
  'SlowDown',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

const programmingErrors: ReadonlySet<string> = new Set([
  'EntityTooLarge',
  'InvalidArgument',
  'InvalidBucketName',
  'InvalidRequest',
  'KeyTooLongError',
  'MalformedXML',
]);

/** Throws a programming error unchanged. */
const toStoreError = (error: unknown): StoreError => {
  if (isProgrammingError(error, programmingErrors)) throw error;
  const name = error instanceof Error ? error.name : 'unknown';
  return new StoreError(throttles.has(name) ? 'throttled' : 'unavailable', name, error);
};
