import type { ImageModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { ImageFile, ImageReference } from '../../core/images/image-wire.ts';
import type { Form } from '../../http/exchange.ts';
import { checkImageFile } from '../image-file.ts';
import { tooMany } from './request-references.ts';

const IMAGE = 'image';
const MASK = 'mask';
/** An SDK that is given a list puts brackets behind the name. */
export const editFiles = [IMAGE, `${IMAGE}[]`, MASK];

interface EditFiles {
  readonly references: readonly ImageReference[];
  readonly mask: ImageFile | undefined;
}

/** IMG-5: the images in their order, and the mask over the first of them. */
export const toEditFiles = ({ files }: Form, model: ImageModel): EditFiles => {
  const images = files.filter(({ field }) => field !== MASK);
  const masks = files.filter(({ field }) => field === MASK);
  if (images.length === 0) throw invalidRequest(IMAGE, `${IMAGE}: is missing. Send at least one image, as a file.`);
  if (images.length > model.image.references.max) throw tooMany(IMAGE, model);
  refuseMasks(masks.length, model);
  const checked = images.map(({ bytes }, index) => {
    const param = images.length === 1 ? IMAGE : `${IMAGE}[${index}]`;
    return { kind: 'file' as const, file: checkImageFile(bytes, param), param };
  });
  const [mask] = masks;
  return { references: checked, mask: mask && toMask(mask.bytes, checked[0]?.file) };
};

const refuseMasks = (count: number, { id, capabilities }: ImageModel): void => {
  if (count === 0) return;
  if (!capabilities.mask) throw invalidRequest(MASK, `${MASK}: not supported with "${id}". Leave it out.`);
  if (count > 1) throw invalidRequest(MASK, `${MASK}: sent twice. There is one, over the first image.`);
};

/** A PNG of the first image's dimensions: https://platform.openai.com/docs/api-reference/images/createEdit, `mask`. */
const toMask = (bytes: Uint8Array, first: ImageFile | undefined): ImageFile => {
  const refuse = (problem: string) => new GatewayError('invalid_image_format', `${MASK}: ${problem}`, { param: MASK });
  const mask = checkImageFile(bytes, MASK);
  if (mask.mediaType !== 'image/png') throw refuse('must be a PNG, whose transparent parts are painted.');
  if (!first || (mask.width === first.width && mask.height === first.height)) return mask;
  const is = `${mask.width}x${mask.height}`;
  throw refuse(`the mask is ${is}, but the first image is ${first.width}x${first.height}. Send one of that size.`);
};
