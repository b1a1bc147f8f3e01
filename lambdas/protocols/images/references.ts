import type { ImageModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { ImageFile, ImageReference } from '../../core/images/image-wire.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { Form } from '../../http/exchange.ts';
import { fileFieldOf } from '../form-fields.ts';
import { checkImageFile } from '../image-file.ts';
import { inlineTypeOf } from '../image-url.ts';

/** Usual limit of front doors and providers on the web. */
const URL_CHARACTERS_MAX = 8_192;
const numberedForm = /^input_image(?:_\d{1,4})?$/;

/**
 * Whether at least one model has images in a field of this name. The error for a model without the field can then name
 * the right field.
 */
export const isReferenceName = (name: string): boolean =>
  name === 'image' || name === 'mask' || numberedForm.test(name);

/**
 * Reference images of a JSON request in the order of the entry's fields (IMG-4, IMG-10). Fields without an image are
 * skipped. Throws `invalid_image_format` for an invalid image, and the 400 for a field of another model family.
 */
export const toReferences = (json: JsonObject, model: ImageModel): readonly ImageReference[] => {
  const { fields, form, max } = model.image.references;
  const named = Object.entries(json).filter(([name, value]) => isReferenceName(name) && value !== null);
  const wrong = named.find(([name]) => form === 'file' || !fields.includes(name));
  if (wrong) throw wrongField(wrong[0], model);
  const sent = new Map(named);
  const references = fields.flatMap((field) => {
    const value = sent.get(field);
    if (value === undefined) return [];
    return form === 'public_url' ? listOfUrls(value, field, model) : [inlineOrUrl(value, field)];
  });
  const excess = references[max];
  if (excess) throw tooMany(excess.param, model);
  return references;
};

const wrongField = (name: string, { id, capabilities, image }: ImageModel): GatewayError => {
  const { fields, form } = image.references;
  if (name === 'mask' && !capabilities.mask) {
    return invalidRequest(name, `${name}: not supported with "${id}". Remove it.`);
  }
  if (form === 'file') {
    return invalidRequest(name, `${name}: "${id}" accepts images at /v1/images/edits. Send them there as files.`);
  }
  const [first = '', ...others] = fields;
  const last = others.at(-1);
  const fitting = last === undefined ? `an array of URLs in the field ${first}` : `the fields ${first} to ${last}`;
  return invalidRequest(name, `${name}: not supported with "${id}". Send images as ${fitting}.`);
};

export const tooMany = (param: string, { id, image }: ImageModel): GatewayError =>
  invalidRequest(param, `${param}: "${id}" accepts at most ${image.references.max} images. Send fewer.`);

/** Accepts an array of URLs, or a single URL. */
const listOfUrls = (value: JsonValue, field: string, model: ImageModel): readonly ImageReference[] => {
  if (!isList(value)) return [publicUrl(value, field)];
  const { max } = model.image.references;
  if (value.length > max) throw tooMany(`${field}[${max}]`, model);
  if (value.length > 0) return value.map((member, index) => publicUrl(member, `${field}[${index}]`));
  throw invalidRequest(field, `${field}: must have 1 to ${max} URLs. Remove the field if there are no images.`);
};

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

const invalidFormat = (param: string, problem: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${problem}`, { param });

/** The provider fetches the URL. Rejects spaces and control characters, because URL parsers treat them differently. */
const publicUrl = (value: JsonValue, param: string, allowed = 'an http(s) URL'): ImageReference => {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value)) throw invalidFormat(param, `must be ${allowed}.`);
  if (value.length > URL_CHARACTERS_MAX) {
    throw invalidFormat(param, `the URL is longer than ${URL_CHARACTERS_MAX} characters. Send a shorter one.`);
  }
  if (!URL.canParse(value) || /[\s\p{Cc}]/u.test(value) || !value.isWellFormed()) {
    throw invalidFormat(param, 'this is not a valid URL.');
  }
  return { kind: 'url', url: value, param };
};

/** An image in JSON: a data URI, whose content is checked, or a URL. */
export const inlineOrUrl = (value: JsonValue, param: string): ImageReference => {
  if (typeof value !== 'string' || inlineTypeOf(value) === undefined) {
    return publicUrl(value, param, 'an http(s) URL or a base64 data URI of a PNG, JPEG or WebP image');
  }
  return { kind: 'file', file: checkImageFile(decode(value.slice(value.indexOf(',') + 1), param), param), param };
};

/**
 * The decoder skips characters that are not base64 and stops at padding. Invalid text is therefore recognized by having
 * fewer decoded bytes than its length implies.
 */
const decode = (base64: string, param: string): Uint8Array => {
  const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
  const digits = base64.length - padding;
  const bytes = Buffer.from(base64, 'base64');
  if (digits % 4 === 1 || bytes.length !== Math.floor((digits * 3) / 4)) {
    throw invalidFormat(param, 'the content of the data URI is not valid base64.');
  }
  return bytes;
};

const IMAGE = 'image';
const MASK = 'mask';
export const editFiles = [IMAGE, MASK];

interface EditFiles {
  readonly references: readonly ImageReference[];
  readonly mask: ImageFile | undefined;
}

/** Images of the form in their order, and the mask for the first of them (IMG-5). */
export const toEditFiles = ({ files }: Form, model: ImageModel): EditFiles => {
  const { image: images = [], mask: masks = [] } = Object.groupBy(files, ({ field }) =>
    fileFieldOf(field) === MASK ? MASK : IMAGE,
  );
  refuseCounts(IMAGE, images.length, masks.length, model);
  const checked = images.map(({ bytes }, index) => {
    const param = images.length === 1 ? IMAGE : `${IMAGE}[${index}]`;
    return { kind: 'file' as const, file: checkImageFile(bytes, param), param };
  });
  const [mask] = masks;
  return { references: checked, mask: mask && toMask(checkImageFile(mask.bytes, MASK), checked[0]?.file) };
};

/** Checks the number of images, whose field has this name, and of masks. */
export const refuseCounts = (name: string, images: number, masks: number, model: ImageModel): void => {
  if (images === 0) throw invalidRequest(name, `${name}: missing. Send at least one image.`);
  if (images > model.image.references.max) throw tooMany(name, model);
  refuseMasks(masks, model);
};

const refuseMasks = (count: number, { id, capabilities }: ImageModel): void => {
  if (count === 0) return;
  if (!capabilities.mask) throw invalidRequest(MASK, `${MASK}: not supported with "${id}". Remove it.`);
  if (count > 1) throw invalidRequest(MASK, `${MASK}: sent twice. Send one mask.`);
};

/**
 * Mask with the dimensions of the first image: https://platform.openai.com/docs/api-reference/images/createEdit,
 * `mask`.
 */
export const toMask = (mask: ImageFile, first: ImageFile | undefined): ImageFile => {
  const refuse = (problem: string) => new GatewayError('invalid_image_format', `${MASK}: ${problem}`, { param: MASK });
  if (mask.mediaType !== 'image/png') throw refuse('must be a PNG. The model paints its transparent parts.');
  if (!first || (mask.width === first.width && mask.height === first.height)) return mask;
  const is = `${mask.width}x${mask.height}`;
  throw refuse(`the mask is ${is}, but the first image is ${first.width}x${first.height}. Send a mask of that size.`);
};
