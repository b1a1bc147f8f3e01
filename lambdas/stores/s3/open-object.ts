import type { S3Client } from '@aws-sdk/client-s3';
import type { StoredMedia } from '../../core/images/media.ts';
import { find } from './failures.ts';
import { piecesOf } from './object-body.ts';

/** Undefined when there is no such object. The client and its commands are loaded at the first use. */
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
