import { type ImageMediaType, sniffImage } from '../../core/image-type.ts';
import { unreadable } from '../refusals.ts';
import type { Part } from './chunk.ts';
import { noImage } from './errors.ts';

/**
 * The base64 of an image that is the client's: with `thought` it is one that the model drew to try its idea.
 * https://ai.google.dev/gemini-api/docs/image-generation#thinking-process
 */
export const imageDataOf = ({ inlineData, thought }: Part): string | undefined =>
  thought ? undefined : (inlineData?.data ?? undefined);

/**
 * Throws `upstream_error` for what is no base64. Node's own decoder leaves out what it cannot read, and stops at padding: the length
 * tells. No pattern is matched, since a repetition over many megabytes is more than one can hold.
 */
export const decodeBytes = (data: string): Buffer => {
  const padding = data.endsWith('==') ? 2 : Number(data.endsWith('='));
  const digits = data.length - padding;
  const bytes = Buffer.from(data, 'base64');
  const whole = digits % 4 !== 1 && (padding === 0 || data.length % 4 === 0);
  if (!whole || bytes.length !== Math.floor((digits * 3) / 4)) throw unreadable();
  return bytes;
};

/** The image and what its first bytes say that it is: the type that the vendor names beside it is not asked. */
export const decodeImage = (data: string): { readonly bytes: Uint8Array; readonly mediaType: ImageMediaType } => {
  const bytes = decodeBytes(data);
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw noImage();
  return { bytes, mediaType };
};
