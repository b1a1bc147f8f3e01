import * as z from 'zod';
import { openaiError } from './error.ts';
import { type Dimensions, parseImages } from './images-files.ts';
import type { ImageForm } from './images-form.ts';
import { type Quality, refuseOther, refuseQuality, toDimensions } from './images-traits.ts';
import { parseBody } from './request-errors.ts';

/**
 * Fields of `ImageGenerateParams` and `ImageEditParams` that both endpoints accept, except deprecated and streamed
 * ones.
 */
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

/** Every value of a form is a string. */
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
  /** Includes the mask. */
  readonly images: readonly Dimensions[];
};

/** Parses a request of `images.generate` (https://github.com/openai/openai-node), or throws the provider's 400. */
export function parseGeneration(body: unknown): ImagesRequest {
  return toRequest(parseBody(generationSchema, body), []);
}

/** Parses a request of `images.edit` from a form, which the gateway sends. The provider also accepts JSON. */
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
