import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { ChosenSize } from '../../core/images/choose-size.ts';
import type { ImageAsk, ImageCall, ImageFile, ImageReference } from '../../core/images/image-wire.ts';
import type { VendorCall } from '../vendor-call.ts';

/** What is delivered. The vendor's GIFs and SVGs are previews, and an SVG has a usage of its own that no price is for. */
const outputFormats: readonly unknown[] = [undefined, 'png', 'jpeg', 'webp'];

/** Throws the 400 for what cannot be sent. */
export const refuseUnfit = ({ references, extras }: ImageAsk): void => {
  for (const reference of references) fileOf(reference);
  if (outputFormats.includes(extras.output_format)) return;
  throw new GatewayError('invalid_request_error', 'output_format: must be png, jpeg or webp.', {
    param: 'output_format',
  });
};

/** Images go only into a form, and into another endpoint. */
export const toImagePayload = (call: ImageCall): Pick<VendorCall, 'path' | 'body' | 'form'> => {
  const fields = toFields(call);
  const { references, mask } = call;
  if (references.length === 0) return { path: '/images/generations', body: fields };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, String(value));
  for (const [index, reference] of references.entries()) {
    form.append('image[]', toFile(fileOf(reference), `image-${index + 1}`));
  }
  if (mask) form.append('mask', toFile(mask, 'mask'));
  return { path: '/images/edits', form };
};

/** Undefined members are not sent. */
const toFields = ({ upstream, prompt, n, size, quality, endUser, extras }: ImageCall) => ({
  ...extras,
  model: upstream.model,
  prompt,
  n: n > 1 ? n : undefined,
  size: toSize(size),
  quality,
  user: endUser,
});

const toSize = (size: ChosenSize): string => {
  switch (size.kind) {
    case 'pixels':
      return `${size.width}x${size.height}`;
    case 'vendor':
      return 'auto';
    case 'tier':
      throw new Error('a step of size for a vendor that has none');
  }
};

const fileOf = (reference: ImageReference): ImageFile => {
  if (reference.kind === 'file') return reference.file;
  const { param } = reference;
  throw new GatewayError('invalid_image_format', `${param}: this model takes image files, no URLs.`, { param });
};

/** The vendor goes by the type of the part, and other servers by the ending of the name. */
const toFile = ({ mediaType, bytes }: ImageFile, name: string): File =>
  new File([new Uint8Array(bytes)], `${name}.${mediaType.slice('image/'.length)}`, { type: mediaType });
