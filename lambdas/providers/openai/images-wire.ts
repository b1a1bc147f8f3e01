import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type {
  ChosenSize,
  Drawing,
  DrawnImage,
  ImageAsk,
  ImageCall,
  ImageFile,
  ImageReference,
  ImageWire,
} from '../../core/images/image-wire.ts';
import { isJsonObject, type JsonValue } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { readJson, tokenCount } from '../read-json.ts';
import { detailsOfNone, type Refusal, type RefusalContext, unreadable } from '../refusals.ts';
import { callVendor, type VendorCall, type WireOptions } from '../vendor-call.ts';
import { isFiltered, parseRefusal, toInBandError, toOpenaiError } from './errors.ts';

const PROMPT = 'prompt';

export const toImageError = (
  status: number,
  body: unknown,
  refusalContext: RefusalContext,
  ask: ImageAsk,
): GatewayError => toOpenaiError(status, inClientsTerms(parseRefusal(body), ask), refusalContext, PROMPT);

/** Error in a response with a success status. */
export const toInBandImageError = (body: unknown, refusalContext: RefusalContext, ask: ImageAsk): GatewayError => {
  const refusal = inClientsTerms(parseRefusal(body), ask);
  return isFiltered(refusal)
    ? toOpenaiError(400, refusal, refusalContext, PROMPT)
    : toInBandError(refusal, refusalContext, PROMPT);
};

/** Fields for refusals that name none. The first is from https://github.com/lofcz/LLMTornado/issues/105. */
const paramsByCode: Readonly<Record<string, string>> = {
  invalid_image_file: 'image',
  invalid_mask_image_format: 'mask',
};

/**
 * Converts a refusal to the client's terms. All user errors have the type `image_generation_user_error`, even a wrong
 * size, so this type does not show whether the error is about an image. The provider refers to an unreadable image by
 * its number, or as `image[0]`.
 */
const inClientsTerms = (refusal: Refusal, { references }: ImageAsk): Refusal => {
  const param = refusal.param || paramsByCode[refusal.code];
  const isReference = param !== undefined && /^image(?:\[\d*\])?$/.test(param);
  return {
    ...refusal,
    type: refusal.type.replace('image_generation_user_error', 'invalid_request_error'),
    code: refusal.code.replace('unsupported_file_mimetype', 'invalid_image_file'),
    param: isReference ? (references[referenceIn(refusal)]?.param ?? 'image') : param,
  };
};

const referenceIn = ({ param = '', message }: Refusal): number => {
  const index = /\d+/.exec(param)?.[0];
  if (index !== undefined) return Number(index);
  const number = /for image (\d+)/.exec(message)?.[1];
  return number === undefined ? 0 : Number(number) - 1;
};

const byModality = z.object({ text_tokens: tokenCount, image_tokens: tokenCount });

/**
 * `ImagesResponse.Usage` of the package openai 7.55.0. It has no cached tokens, although they have a price. They are
 * read from the place that other responses use.
 */
const imageUsage = z.object({
  input_tokens: tokenCount,
  output_tokens: tokenCount,
  input_tokens_details: byModality
    .extend({ cached_tokens: tokenCount, cached_tokens_details: byModality.nullish().catch(null) })
    .nullish()
    .catch(null),
  output_tokens_details: byModality.nullish().catch(null),
});

type Counts = z.output<typeof byModality> | null | undefined;

/** Undefined if the provider reported no usage or none that can be counted. */
export const toImageUsage = (reported: unknown): TokenUsage | undefined => {
  const { data } = imageUsage.safeParse(reported);
  // The response has an image, so a usage without output is wrong.
  if (!data?.output_tokens) return undefined;
  const { input_tokens_details: details, output_tokens_details: outputDetails } = data;
  const input = data.input_tokens ?? 0;
  const imageInput = imagesOf(details, input) ?? 0;
  const textInput = input - imageInput;
  const cached = cachedOf(details, textInput, imageInput);
  const output = data.output_tokens;
  // Without details, all output tokens count as image tokens.
  const imageOutput = imagesOf(outputDetails, output) ?? output;
  return {
    input: textInput - cached.text,
    cacheRead: cached.text,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: output - imageOutput,
    reasoning: 0,
    imageInput: imageInput - cached.image,
    cachedImageInput: cached.image,
    imageOutput,
  };
};

/** Image tokens among all tokens, at most `all`. Undefined if the details have neither count. */
const imagesOf = (counts: Counts, all: number): number | undefined => {
  if (typeof counts?.image_tokens === 'number') return Math.min(counts.image_tokens, all);
  return typeof counts?.text_tokens === 'number' ? Math.max(0, all - counts.text_tokens) : undefined;
};

type InputDetails = z.output<typeof imageUsage>['input_tokens_details'];

/** Splits cached tokens. Without details they count as text first. */
const cachedOf = (
  details: InputDetails,
  text: number,
  image: number,
): { readonly text: number; readonly image: number } => {
  const split = details?.cached_tokens_details;
  const all = details?.cached_tokens ?? (split?.text_tokens ?? 0) + (split?.image_tokens ?? 0);
  const ofText = Math.min(split?.text_tokens ?? all, text);
  return { text: ofText, image: Math.min(split?.image_tokens ?? all - ofText, image) };
};

/** One image of a response. Servers of this protocol differ in the other members. */
const entry = z.object({
  b64_json: z.string().nullish().catch(null),
  url: z.string().nullish().catch(null),
  revised_prompt: z.string().nullish().catch(null),
});

/** Images in the provider's order. Throws `upstream_error` if there are none. */
export const toDrawing = (body: JsonValue, refusalContext: RefusalContext, ask: ImageAsk): Drawing => {
  if (!isJsonObject(body)) throw unreadable();
  if (isJsonObject(body.error)) throw toInBandImageError(body, refusalContext, ask);
  const data: readonly JsonValue[] = Array.isArray(body.data) ? body.data : [];
  const images = data.flatMap(toImages);
  if (images.length === 0) throw unreadable(detailsOfNone(body.data));
  return { images, usage: toImageUsage(body.usage) };
};

/**
 * Empty for an item with neither content nor a URL. An image that has only a URL was not requested and is not fetched:
 * reading it fails.
 */
const toImages = (value: JsonValue): DrawnImage[] => {
  const { b64_json: text, url, revised_prompt: revised } = entry.safeParse(value).data ?? {};
  if (typeof text !== 'string' && typeof url !== 'string') return [];
  return [{ read: async () => decode(text ?? ''), revisedPrompt: revised ?? undefined }];
};

/**
 * Some relays add this prefix to their base64: https://docs.apiyi.com/en/api-capabilities/gpt-image-2-vip/text-to-image
 */
const dataUri = /^data:image\/[\w.+-]+;base64,/;

const foreign = /[^A-Za-z0-9+/]/;
const paddings: readonly string[] = ['', '=', '=='];

/**
 * Decodes base64. Throws `upstream_error` if it is invalid, because Node's decoder skips invalid characters. Searches
 * for one invalid character instead of matching the whole text, because a repetition over megabytes overflows the stack
 * of a regular expression.
 */
const decode = (content: string): Uint8Array => {
  const text = content.slice(dataUri.exec(content.slice(0, 100))?.[0].length ?? 0);
  const end = text.search(foreign);
  const isWhole = text !== '' && text.length % 4 === 0;
  if (!isWhole || (end >= 0 && !paddings.includes(text.slice(end)))) throw unreadable();
  return Buffer.from(text, 'base64');
};

/**
 * Formats that the gateway delivers. The provider's GIFs and SVGs are previews, and the usage of an SVG has no price.
 */
const outputFormats: readonly unknown[] = [undefined, 'png', 'jpeg', 'webp'];

/** Throws the 400 for a reference or format that cannot be sent. */
export const refuseUnfit = ({ references, extras }: ImageAsk): void => {
  for (const reference of references) fileOf(reference);
  if (outputFormats.includes(extras.output_format)) return;
  throw new GatewayError('invalid_request_error', 'output_format: must be png, jpeg or webp.', {
    param: 'output_format',
  });
};

/** Path and payload of a call. Reference images require a form and a different endpoint. */
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

/** Fields of the request. Undefined members are not sent. */
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
      throw new Error('a size tier for a provider that has none');
  }
};

const fileOf = (reference: ImageReference): ImageFile => {
  if (reference.kind === 'file') return reference.file;
  const { param } = reference;
  throw new GatewayError('invalid_image_format', `${param}: this model accepts image files, not URLs.`, { param });
};

/** The provider reads the type of the form part, other servers the extension of the file name. */
const toFile = ({ mediaType, bytes }: ImageFile, name: string): File =>
  new File([new Uint8Array(bytes)], `${name}.${mediaType.slice('image/'.length)}`, { type: mediaType });

/** Size of ten of the largest PNGs as base64. A string in V8 holds 512 MiB. */
const DRAWING_BYTES_MAX = 192 * 1024 * 1024;

/**
 * https://developers.openai.com/api/reference/resources/images as typed in the package openai 7.55.0. `response_format`
 * is never sent: GPT image models reject it and always return base64.
 */
export const createOpenaiImageWire = (options: WireOptions): ImageWire => ({
  check: refuseUnfit,
  draw: async (call) => {
    const { provider, signal } = call;
    const { response, refusalContext } = await callVendor(options, {
      provider,
      ...toImagePayload(call),
      streamed: false,
      signal,
      refuse: (status, body, context) => toImageError(status, body, context, call),
    });
    return toDrawing(await readJson(response, DRAWING_BYTES_MAX), refusalContext, call);
  },
});
