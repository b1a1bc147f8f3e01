import * as z from 'zod';
import type {
  ChosenSize,
  Drawing,
  DrawnImage,
  ImageCall,
  ImageReference,
  ImageWire,
} from '../../core/images/image-wire.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { readJson } from '../read-json.ts';
import { detailsOfNone, type RefusalContext, unreadable } from '../refusals.ts';
import { createResultDownload, type ResultDownload } from '../result-download.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { imageTerms, isFiltered, parseArkRefusal, toArkError } from './errors.ts';

interface ArkImageOptions extends WireOptions {
  readonly download?: ResultDownload;
}

/**
 * The provider's Seedream models: https://docs.byteplus.com/en/docs/ModelArk/1541523. The provider charges per image,
 * so the reported tokens, which only restate the pixels, are dropped.
 */
export const createArkImageWire = (options: ArkImageOptions): ImageWire => {
  const download = options.download ?? createResultDownload();
  return {
    draw: async (call) => {
      const { provider, signal } = call;
      const { response, refusalContext } = await callVendor(options, {
        provider,
        path: '/images/generations',
        body: toArkImageRequest(call),
        streamed: false,
        signal,
        refuse: refuseImage,
      });
      const { baseUrl } = options.access(provider.id);
      const read = (url: string) => download({ url, baseUrl, signal });
      return toDrawing(await readJson(response), refusalContext, read);
    },
  };
};

const refuseImage = (status: number, body: unknown, refusalContext: RefusalContext) =>
  toArkError(status, body, refusalContext, imageTerms);

/**
 * Omits `sequential_image_generation`: without it every model generates one image, and the newest reject it even as
 * `disabled`. https://docs.apiyi.com/en/api-capabilities/seedream-image/text-to-image
 */
const toArkImageRequest = ({ upstream, prompt, references, size, extras }: ImageCall): JsonObject => ({
  model: upstream.model,
  prompt,
  ...toImageField(references.map(toArkImage)),
  ...toSizeField(size),
  response_format: 'url',
  // The provider's default adds a mark in the corner of the image.
  watermark: false,
  ...extras,
});

const toImageField = (images: readonly string[]): JsonObject => {
  const [only, ...others] = images;
  if (only === undefined) return {};
  return { image: others.length === 0 ? only : images };
};

const toArkImage = (reference: ImageReference): string => {
  if (reference.kind === 'url') return reference.url;
  const { mediaType, bytes } = reference.file;
  return `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
};

const toSizeField = (size: ChosenSize): JsonObject => {
  switch (size.kind) {
    case 'pixels':
      return { size: `${size.width}x${size.height}` };
    case 'tier':
      return { size: size.tier };
    case 'vendor':
      return {};
  }
};

/** An item is an image, or the error that replaced it. */
const answer = z.object({ data: z.array(z.unknown()) });
const linked = z.object({ url: z.string().min(1) });
const inlined = z.object({ b64_json: z.string().min(1) });
const failed = z.object({ error: z.looseObject({}) });

const toDrawing = (
  body: JsonValue,
  refusalContext: RefusalContext,
  read: (url: string) => Promise<Uint8Array>,
): Drawing => {
  const listed = answer.safeParse(body).data?.data;
  const items = listed ?? [];
  const images = items.flatMap((item): DrawnImage[] => {
    const url = linked.safeParse(item).data?.url;
    if (url !== undefined) return [{ read: () => read(url) }];
    const text = inlined.safeParse(item).data?.b64_json;
    return text === undefined ? [] : [{ read: async () => Buffer.from(text, 'base64') }];
  });
  if (images.length > 0) return { images, usage: undefined };
  const failure = [...items, body].find((each) => failed.safeParse(each).success);
  if (failure === undefined) throw unreadable(detailsOfNone(listed));
  // With a success status the provider is at fault, unless its filter stopped the image.
  throw refuseImage(isFiltered(parseArkRefusal(failure)) ? 400 : 500, failure, refusalContext);
};
