import * as z from 'zod';
import { readImageInput } from '../image-input.ts';
import { invalidParameter } from './error.ts';

export const imageSchema = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string() }),
  role: z.enum(['first_frame', 'last_frame', 'reference_image']).optional(),
});

/** First and last frame, or references, but never both. */
export function refuseImages(images: readonly z.infer<typeof imageSchema>[]): void {
  for (const { image_url: image } of images) {
    const { kind } = readImageInput(image.url);
    if (kind === 'unreachable') throw invalidParameter('content', 'the image cannot be downloaded');
    if (kind === 'unsupported') throw invalidParameter('content', 'the image format is not supported');
  }
  const roles = images.map(({ role }) => role ?? (images.length === 1 ? 'first_frame' : undefined));
  if (roles.includes(undefined)) throw invalidParameter('content', 'role must be specified for image contents');
  const count = (role: string) => roles.filter((one) => one === role).length;
  const [first, last, references] = ['first_frame', 'last_frame', 'reference_image'].map(count);
  if (!first && !last) return;
  if (references) {
    throw invalidParameter('content', 'first/last frame content cannot be mixed with reference media content');
  }
  if (first !== 1 || (last ?? 0) > 1) {
    const why = 'last frame image content cannot be mixed with first frame or reference image content';
    throw invalidParameter('content', why);
  }
}
