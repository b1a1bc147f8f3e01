import { imageSize } from 'image-size';
import * as z from 'zod';
import { openaiError } from './error.ts';
import { refuseImage } from './request-errors.ts';

const fileSchema = z.object({ mediaType: z.string(), bytes: z.instanceof(Uint8Array) });
const objectSchema = z.strictObject({ image_url: z.string().optional(), file_id: z.string().optional() });
const formats = ['image/jpeg', 'image/png', 'image/webp'];

/** Throws the 400 for a reference that is neither a file nor an object, or whose image is wrong. Fetches no URLs. */
export function refuseReference(reference: unknown, size: string): void {
  const file = fileSchema.safeParse(reference).data;
  if (file !== undefined) {
    refuseFile(file.mediaType, file.bytes, size);
    return;
  }
  const named = objectSchema.safeParse(reference).data;
  if (named === undefined) {
    const got = typeof reference === 'object' ? 'an object' : `a ${typeof reference}`;
    const message = `Invalid type for 'input_reference': expected a file, but got ${got} instead.`;
    throw openaiError(400, message, { param: 'input_reference', code: 'invalid_type' });
  }
  if (named.image_url === undefined) return;
  const refusal = refuseImage(named.image_url);
  if (refusal !== undefined) throw refusal;
  const data = /^data:([^;,]*);base64,/.exec(named.image_url);
  if (data === null) return;
  refuseFile(data[1] ?? '', Buffer.from(named.image_url.slice(data[0].length), 'base64'), size);
}

/** Source of the second message: https://github.com/Azure-Samples/visionary-lab/issues/42 */
function refuseFile(mediaType: string, bytes: Uint8Array, size: string): void {
  if (!formats.includes(mediaType)) {
    const message =
      `Invalid file 'input_reference': unsupported mimetype ('${mediaType}'). ` +
      "Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.";
    throw openaiError(400, message, { param: 'input_reference', code: 'unsupported_file_mimetype' });
  }
  if (sizeOf(bytes) !== size) throw openaiError(400, 'Inpaint image must match the requested width and height');
}

function sizeOf(bytes: Uint8Array): string | undefined {
  try {
    const { width, height } = imageSize(bytes);
    return `${width}x${height}`;
  } catch {
    return undefined;
  }
}
