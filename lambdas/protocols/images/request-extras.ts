import type { ImageModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { shownName } from '../parse.ts';

const CHARACTERS_MAX = 64;
/** Only what can be delivered: the vendor's other formats are no single image, and cost more than is held. */
const outputFormats: ReadonlySet<JsonValue> = new Set(['png', 'jpeg', 'webp']);
const textFields: ReadonlySet<string> = new Set(['background', 'moderation']);
const streaming: ReadonlySet<string> = new Set(['stream', 'partial_images']);

/** `stream: false`, which an SDK may send, is what happens anyway; in a form it is text. */
export const refuseStreaming = (sent: JsonObject): void => {
  const stream = sent.stream ?? false;
  if (stream !== false && stream !== 'false') {
    throw invalidRequest('stream', 'stream: images are not streamed here. Leave it out: the answer comes whole.');
  }
  if ((sent.partial_images ?? null) !== null) {
    throw invalidRequest('partial_images', 'partial_images: images are not streamed here. Leave it out.');
  }
};

/** Fields of the entry, unchanged. `null` counts as absent. Any other field is refused by name (GEN-9). */
export const toExtras = (sent: JsonObject, model: ImageModel, isKnown: (name: string) => boolean): JsonObject => {
  const extras = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(sent)) {
    if (isKnown(name) || streaming.has(name)) continue;
    if (value === undefined || value === null) continue;
    if (!model.extraFields.includes(name)) throw unknownField(name, model);
    refuseValue(name, value);
    extras.set(name, value);
  }
  return Object.fromEntries(extras);
};

const unknownField = (name: string, { id, extraFields }: ImageModel) => {
  const shown = shownName(name);
  const others = extraFields.length > 0 ? ` Further fields that it takes: ${extraFields.join(', ')}.` : '';
  return invalidRequest(shown, `${shown}: this field is not supported with "${id}". Leave it out.${others}`);
};

const refuseValue = (name: string, value: JsonValue): void => {
  if (name === 'output_format' && !outputFormats.has(value)) {
    throw invalidRequest(name, `${name}: must be one of "png", "jpeg", "webp".`);
  }
  if (textFields.has(name) && typeof value !== 'string') throw invalidRequest(name, `${name}: must be a string.`);
  // A number too large for JSON's own kind is read as an infinite one.
  if (typeof value === 'boolean' || Number.isFinite(value)) return;
  if (typeof value === 'string' && value.length <= CHARACTERS_MAX && value.isWellFormed()) return;
  const problem = `must be a string of at most ${CHARACTERS_MAX} characters, a number or a boolean.`;
  throw invalidRequest(name, `${name}: ${problem}`);
};
