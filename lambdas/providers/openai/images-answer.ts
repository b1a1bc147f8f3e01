import * as z from 'zod';
import type { Drawing, DrawnImage, ImageAsk } from '../../core/images/image-wire.ts';
import { isJsonObject, type JsonValue } from '../../core/json.ts';
import { type RefusalContext, unreadable } from '../refusals.ts';
import { toInBandImageError } from './images-errors.ts';
import { toImageUsage } from './images-usage.ts';

/** Of one image: servers that speak this protocol differ in what else they say. */
const entry = z.object({
  b64_json: z.string().nullish().catch(null),
  url: z.string().nullish().catch(null),
  revised_prompt: z.string().nullish().catch(null),
});

/** The images in the vendor's order. An answer without any is `upstream_error`. */
export const toDrawing = (body: JsonValue, told: RefusalContext, ask: ImageAsk): Drawing => {
  if (!isJsonObject(body)) throw unreadable();
  if (isJsonObject(body.error)) throw toInBandImageError(body, told, ask);
  const data: readonly JsonValue[] = Array.isArray(body.data) ? body.data : [];
  const images = data.flatMap(toImages);
  if (images.length === 0) throw unreadable();
  return { images, usage: toImageUsage(body.usage) };
};

/** None where there is neither content nor an address; what is only at an address was not asked for, and is not fetched. */
const toImages = (value: JsonValue): DrawnImage[] => {
  const { b64_json: text, url, revised_prompt: revised } = entry.safeParse(value).data ?? {};
  if (typeof text !== 'string' && typeof url !== 'string') return [];
  return [{ read: async () => decode(text ?? ''), revisedPrompt: revised ?? undefined }];
};

/** Some relays put it before their base64: https://docs.apiyi.com/en/api-capabilities/gpt-image-2-vip/text-to-image */
const dataUri = /^data:image\/[\w.+-]+;base64,/;

const foreign = /[^A-Za-z0-9+/]/;
const paddings: readonly string[] = ['', '=', '=='];

/**
 * Node's own decoder leaves out what is no base64. A whole text is searched for one sign of it and not matched: a repetition over
 * megabytes is more than the stack of a regular expression holds.
 */
const decode = (content: string): Uint8Array => {
  const text = content.slice(dataUri.exec(content.slice(0, 100))?.[0].length ?? 0);
  const end = text.search(foreign);
  const isWhole = text !== '' && text.length % 4 === 0;
  if (!isWhole || (end >= 0 && !paddings.includes(text.slice(end)))) throw unreadable();
  return Buffer.from(text, 'base64');
};
