import type { ImageModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { ImageAsk, ImageReference } from '../../core/images/image-wire.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { RequestMemory } from '../../core/limits/request-memory.ts';
import { checkImageFile } from '../image-file.ts';
import { inlineOrUrl, refuseCounts, toMask } from './references.ts';

/** Names of the images in the JSON of an edit. `image` is the name of the form. */
export const editImageNames: readonly string[] = ['images', 'image', 'mask'];

/** Images of an edit in JSON. */
export interface EditImages {
  readonly references: readonly ImageReference[];
  readonly mask: ImageReference | undefined;
}

/**
 * Reads `EditImageBodyJsonParam` (https://github.com/openai/openai-openapi, 2026-11-29): `images` with `image_url`, and
 * `mask`. Also accepts plain strings, and `image`. Throws the 400 that names the image.
 */
export const readEditImages = (json: JsonObject): EditImages => {
  const { images, image, mask } = json;
  if (isSent(images) && isSent(image))
    throw invalidRequest('image', 'image: sent together with images. Send one of them.');
  const name = isSent(images) ? 'images' : 'image';
  const sent = isSent(images) ? images : image;
  const references = isList(sent)
    ? sent.map((member, index) => toReference(member, `${name}[${index}]`))
    : isSent(sent)
      ? [toReference(sent, name)]
      : [];
  return { references, mask: isSent(mask) ? toReference(mask, 'mask') : undefined };
};

const isSent = (value: JsonValue | undefined): value is JsonValue => value !== undefined && value !== null;

const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

const toReference = (value: JsonValue, param: string): ImageReference => {
  if (!isJsonObject(value)) return inlineOrUrl(value, param);
  if (isSent(value.file_id)) {
    const path = `${param}.file_id`;
    throw invalidRequest(
      path,
      `${path}: files cannot be stored here. Send image_url with an http(s) URL or a data URI.`,
    );
  }
  return inlineOrUrl(value.image_url ?? null, `${param}.image_url`);
};

/** Checks the images against the model's catalog entry. A mask is checked as soon as its first image is known. */
export const toJsonEditImages = (
  { references, mask }: EditImages,
  model: ImageModel,
): Pick<ImageAsk, 'references' | 'mask' | 'remoteMask'> => {
  refuseCounts('images', references.length, mask ? 1 : 0, model);
  const [first] = references;
  if (mask?.kind !== 'file' || first?.kind !== 'file') return { references, mask: undefined, remoteMask: mask };
  return { references, mask: toMask(mask.file, first.file) };
};

/** Whether the gateway must fetch an image, because the providers of edits accept only bytes. */
export const isRemote = ({ references, mask }: EditImages): boolean =>
  [...references, ...(mask ? [mask] : [])].some(({ kind }) => kind === 'url');

/** Fetches images by their URLs (CHAT-6). Throws `invalid_image_format`, or `service_unavailable` without memory (GEN-14). */
export type FetchImages = (
  images: readonly { readonly url: string; readonly param: string }[],
  memory: RequestMemory,
) => Promise<ReadonlyMap<string, Uint8Array>>;

/** Replaces the URLs of a request by the fetched and checked images. */
export const createGather =
  (fetchImages: FetchImages) =>
  async (ask: ImageAsk, memory: RequestMemory): Promise<ImageAsk> => {
    const { references, remoteMask } = ask;
    const remote = [...references, ...(remoteMask ? [remoteMask] : [])].flatMap((each) =>
      each.kind === 'url' ? [each] : [],
    );
    const byUrl = await fetchImages(remote, memory);
    const fetched = (reference: ImageReference): ImageReference & { readonly kind: 'file' } => {
      if (reference.kind === 'file') return reference;
      const { url, param } = reference;
      const bytes = byUrl.get(url);
      if (!bytes) throw new GatewayError('invalid_image_format', `${param}: not fetched.`, { param });
      return { kind: 'file', file: checkImageFile(bytes, param), param };
    };
    const files = references.map(fetched);
    const mask = remoteMask ? toMask(fetched(remoteMask).file, files[0]?.file) : ask.mask;
    return { ...ask, references: files, mask, remoteMask: undefined };
  };
