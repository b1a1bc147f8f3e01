import * as z from 'zod';
import { openaiError } from './error.ts';
import { type Dimensions, parseImages } from './images-files.ts';
import type { ImageForm } from './images-form.ts';
import { type Quality, refuseOther, refuseQuality, toDimensions } from './images-traits.ts';
import { parseBody } from './request-errors.ts';

/** What both endpoints take of `ImageGenerateParams` and `ImageEditParams`, without what is older or streamed. */
const shared = {
  model: z.string(),
  prompt: z.string().min(1).max(32_000),
  size: z.string().optional(),
  quality: z.string().optional(),
  background: z.string().optional(),
  moderation: z.string().optional(),
  output_format: z.string().optional(),
  user: z.string().optional(),
  safety_identifier: z.string().optional(),
};

const n = z.int().min(1).max(10).optional();
const compression = z.int().min(0).max(100).optional();

const generationSchema = z.strictObject({ ...shared, n, output_compression: compression });

/** Whatever comes in a form is a string. */
const digits = z.string().regex(/^\d+$/).transform(Number);
const editSchema = z.strictObject({
  ...shared,
  n: digits.pipe(z.int().min(1).max(10)).optional(),
  output_compression: digits.pipe(z.int().max(100)).optional(),
});

export type ImagesRequest = Dimensions & {
  readonly prompt: string;
  readonly n: number;
  readonly quality: Quality;
  readonly background: string;
  /** The mask among them. */
  readonly images: readonly Dimensions[];
};

/** The request, or the vendor's 400: `images.generate` of https://github.com/openai/openai-node */
export function parseGeneration(body: unknown): ImagesRequest {
  return toRequest(parseBody(generationSchema, body), []);
}

/** `images.edit`, which the vendor takes as JSON as well; the gateway sends a form. */
export function parseEdit(form: ImageForm | undefined): ImagesRequest {
  if (form === undefined) throw openaiError(400, 'We could not parse the form of your request.');
  const fields = parseBody(editSchema, form.fields);
  return toRequest(fields, parseImages(form));
}

type Fields = z.output<typeof generationSchema>;

function toRequest(fields: Fields, images: readonly Dimensions[]): ImagesRequest {
  const { model, prompt, n: count = 1, quality, size, background = 'auto', output_format: format = 'png' } = fields;
  const dimensions = toDimensions(model, size);
  refuseOther('background', background, ['transparent', 'opaque', 'auto']);
  refuseOther('moderation', fields.moderation ?? 'auto', ['low', 'auto']);
  refuseOther('output_format', format, ['png', 'jpeg', 'webp']);
  if (background === 'transparent' && format === 'jpeg') {
    const message = "Transparent background is not supported for JPEG output format, use 'png' or 'webp'.";
    throw openaiError(400, message, { param: 'background', code: 'invalid_value' });
  }
  if (format === 'png' && (fields.output_compression ?? 100) < 100) {
    const message = 'Compression less than 100 is not supported for PNG output format.';
    throw openaiError(400, message, { param: 'output_compression', code: 'invalid_value' });
  }
  return { ...dimensions, prompt, n: count, quality: refuseQuality(model, quality), background, images };
}
