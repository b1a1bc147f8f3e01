import * as z from 'zod';
import type { ImageModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { chooseSize } from '../../core/images/choose-size.ts';
import type { ImageParams } from '../../core/images/draw-images.ts';
import type { ChosenSize, ImageAsk, ImageFile, ImageQuality, ImageReference } from '../../core/images/image-wire.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { Form } from '../../http/exchange.ts';
import { isFalse, toTextFields, withoutEmpty } from '../form-fields.ts';
import { endUserName, hasAtMost, promptText } from '../optional-fields.ts';
import { parseWith, shownName } from '../parse.ts';
import {
  createGather,
  editImageNames,
  type FetchImages,
  isRemote,
  readEditImages,
  toJsonEditImages,
} from './edit-json.ts';
import { editFiles, isReferenceName, toEditFiles, toReferences } from './references.ts';

/** A request whose fields have the right types. The model's limits are not checked yet. */
export interface Sent {
  readonly sent: SharedFields;
  readonly edges: { readonly width: number | undefined; readonly height: number | undefined };
  readonly aspectRatio: string | undefined;
  readonly sequential: string | undefined;
  readonly references: readonly ImageReference[];
  readonly mask: ImageFile | undefined;
  readonly remoteMask?: ImageReference | undefined;
  readonly extras: JsonObject;
}

/** Checks a request against the model's catalog entry (IMG-2 to IMG-5, IMG-7). */
export const toAsk = (model: ImageModel, request: Sent): ImageAsk => {
  const { sent, edges, aspectRatio, sequential, references, mask, remoteMask, extras } = request;
  refuseLongPrompt(sent.prompt, model);
  refuseSequential(sequential, model);
  const n = countOf(sent.n ?? 1, model);
  const size = chooseSize(model, {
    size: sent.size ?? undefined,
    ...edges,
    aspectRatio,
    hasReferences: references.length > 0,
  });
  const quality = qualityOf(sent.quality ?? undefined, size, model);
  return {
    prompt: sent.prompt,
    n,
    size,
    quality,
    references,
    mask,
    remoteMask,
    extras,
    endUser: sent.user ?? undefined,
  };
};

const refuseLongPrompt = (prompt: string, { id, image }: ImageModel): void => {
  const { promptCharactersMax } = image;
  if (hasAtMost(prompt, promptCharactersMax)) return;
  throw invalidRequest(
    'prompt',
    `prompt: must have at most ${promptCharactersMax} characters with "${id}". Shorten it.`,
  );
};

/** Rejects Seedream's series of images, because their number is unknown until they are paid for. */
const refuseSequential = (sent: string | undefined, { id, capabilities }: ImageModel): void => {
  if (sent === undefined) return;
  const param = 'sequential_image_generation';
  const { sequential } = capabilities;
  if (sequential.length === 0) throw invalidRequest(param, `${param}: not supported with "${id}". Remove it.`);
  if (sequential.some((value) => value === sent)) return;
  const allowed = sequential.map((value) => `"${value}"`).join(', ');
  throw invalidRequest(param, `${param}: must be ${allowed} with "${id}".`);
};

const countOf = (n: number, { id, image }: ImageModel): number => {
  if (n <= image.nMax) return n;
  if (image.nMax > 1) throw invalidRequest('n', `n: must be at most ${image.nMax} with "${id}".`);
  const message = `n: "${id}" generates 1 image per request. Send n requests.`;
  throw new GatewayError('unprocessable_entity', message, { param: 'n' });
};

/**
 * Quality of the image (IMG-3). Without a choice of the client, the catalog entry defines it: per size tier, or one for
 * all.
 */
const qualityOf = (sent: string | undefined, size: ChosenSize, model: ImageModel): ImageQuality | undefined => {
  const { id, capabilities, image } = model;
  if (capabilities.quality.length === 0) {
    if (sent === undefined) return ownQuality(image.size, size);
    const reason = image.size.mode === 'enum_by_tier' ? 'It follows from size. ' : '';
    throw invalidRequest('quality', `quality: not supported with "${id}". ${reason}Remove it.`);
  }
  if (sent === undefined || sent === 'auto') return undefined;
  const quality = capabilities.quality.find((value) => value === sent);
  if (quality) return quality;
  const allowed = ['auto', ...capabilities.quality].map((value) => `"${value}"`).join(', ');
  throw invalidRequest('quality', `quality: must be one of ${allowed} with "${id}".`);
};

const ownQuality = (rule: ImageModel['image']['size'], size: ChosenSize): ImageQuality | undefined => {
  if (rule.mode === 'ignored') return rule.upstreamQuality;
  if (rule.mode !== 'enum_by_tier' || size.kind === 'vendor' || size.tier === undefined) return undefined;
  return rule.qualityByTier[size.tier];
};

const CHARACTERS_MAX = 64;
/**
 * Output formats that the gateway can deliver. The provider's other formats are more than a single image and cost more
 * than the hold.
 */
const outputFormats: ReadonlySet<JsonValue> = new Set(['png', 'jpeg', 'webp']);
const textFields: ReadonlySet<string> = new Set(['background', 'moderation']);
const streaming: ReadonlySet<string> = new Set(['stream', 'partial_images']);

/** Rejects requests for a stream. SDKs may send `stream: false`, which has no effect. In a form it is text. */
export const refuseStreaming = (sent: JsonObject): void => {
  const stream = sent.stream ?? false;
  if (stream !== false && !(typeof stream === 'string' && isFalse(stream))) {
    throw invalidRequest('stream', 'stream: images are not streamed here. Remove it to get the complete response.');
  }
  if ((sent.partial_images ?? null) !== null) {
    throw invalidRequest('partial_images', 'partial_images: images are not streamed here. Remove it.');
  }
};

/**
 * Returns the fields of the catalog entry, unchanged. `null` counts as absent. Rejects any other field by name (GEN-9).
 */
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
  const others = extraFields.length > 0 ? ` It also accepts ${extraFields.join(', ')}.` : '';
  return invalidRequest(shown, `${shown}: this field is not supported with "${id}". Remove it.${others}`);
};

const refuseValue = (name: string, value: JsonValue): void => {
  if (name === 'output_format' && !outputFormats.has(value)) {
    throw invalidRequest(name, `${name}: must be one of "png", "jpeg", "webp".`);
  }
  if (textFields.has(name) && typeof value !== 'string') throw invalidRequest(name, `${name}: must be a string.`);
  // The JSON parser reads a number that is too large as Infinity.
  if (typeof value === 'boolean' || Number.isFinite(value)) return;
  if (typeof value === 'string' && value.length <= CHARACTERS_MAX && value.isWellFormed()) return;
  const problem = `must be a string of at most ${CHARACTERS_MAX} characters, a number or a boolean.`;
  throw invalidRequest(name, `${name}: ${problem}`);
};

/** Schema of a text field. Its message for another type is "must be" and `what`. */
export const text = (what: string) => z.string(`must be ${what}`);

const countProblem = 'must be a whole number of at least 1';

/** Number of images in JSON. */
export const countInJson = z.int(countProblem).min(1, countProblem);

/** Number of images in a form, where every value is text. */
export const countInText = z
  .string(countProblem)
  .regex(/^[1-9]\d{0,8}$/, countProblem)
  .transform(Number);

export const edge = z.int('must be a whole number of pixels').min(1, 'must be a whole number of pixels, at least 1');

/**
 * Fields of both endpoints: https://platform.openai.com/docs/api-reference/images/create. The model's catalog entry
 * limits their values.
 */
export const sharedFields = {
  model: text('the id of a model').min(1, 'must be the id of a model'),
  prompt: promptText('must be a string that describes the image'),
  size: text('a string such as "1024x1024"').nullish(),
  quality: text('a string such as "low"').nullish(),
  response_format: z.enum(['url', 'b64_json']).nullish(),
  user: endUserName.nullish(),
};

export interface SharedFields {
  readonly prompt: string;
  readonly n?: number | null | undefined;
  readonly size?: string | null | undefined;
  readonly quality?: string | null | undefined;
  readonly user?: string | null | undefined;
}

/** The model's catalog entry defines all fields that are neither listed here nor references (GEN-9). */
export const generationBody = z.object({
  ...sharedFields,
  n: countInJson.nullish(),
  width: edge.nullish(),
  height: edge.nullish(),
  aspect_ratio: text('a string such as "16:9"').nullish(),
  sequential_image_generation: text('the string "disabled"').nullish(),
});

export const editBody = z.object({ ...sharedFields, n: countInText.nullish() });

/** JSON of an edit, without its images. */
export const editJson = z.object({ ...sharedFields, n: countInJson.nullish() });

/** POST /v1/images/generations. Throws the 400 that names the field. */
export const toGenerationParams = (json: JsonObject): Omit<ImageParams, 'dryRun'> => {
  const sent = parseWith(generationBody, json);
  refuseStreaming(json);
  const isKnown = (name: string): boolean => Object.hasOwn(generationBody.shape, name) || isReferenceName(name);
  return {
    protocol: 'images_generations',
    modelId: sent.model,
    format: sent.response_format ?? undefined,
    endUser: sent.user ?? undefined,
    validateFor: (model) =>
      toAsk(model, {
        sent,
        edges: { width: sent.width ?? undefined, height: sent.height ?? undefined },
        aspectRatio: sent.aspect_ratio ?? undefined,
        sequential: sent.sequential_image_generation ?? undefined,
        extras: toExtras(json, model, isKnown),
        references: toReferences(json, model),
        mask: undefined,
      }),
  };
};

/** Part of an edit that a form and JSON send differently. */
interface EditSource {
  readonly sent: z.output<typeof editBody>;
  /** Fields as the client sent them. */
  readonly fields: JsonObject;
  readonly isKnown: (name: string) => boolean;
  imagesFor(model: ImageModel): Pick<ImageAsk, 'references' | 'mask'>;
}

const toEdit = ({ sent, fields, isKnown, imagesFor }: EditSource): Omit<ImageParams, 'dryRun'> => {
  refuseStreaming(fields);
  return {
    protocol: 'images_edits',
    modelId: sent.model,
    format: sent.response_format ?? undefined,
    endUser: sent.user ?? undefined,
    validateFor: (model) =>
      toAsk(model, {
        sent,
        edges: { width: undefined, height: undefined },
        aspectRatio: undefined,
        sequential: undefined,
        extras: toExtras(fields, model, isKnown),
        ...imagesFor(model),
      }),
  };
};

/** POST /v1/images/edits (IMG-5). Throws the 400 that names the field. */
export const toEditParams = (sentForm: Form): Omit<ImageParams, 'dryRun'> => {
  const form = withoutEmpty(sentForm);
  const isKnown = (name: string): boolean => Object.hasOwn(editBody.shape, name);
  const fields = toTextFields(form, { files: editFiles, content: 'image', isText: isKnown });
  const sent = parseWith(editBody, fields);
  return toEdit({ sent, fields, isKnown, imagesFor: (model) => toEditFiles(form, model) });
};

/** POST /v1/images/edits with JSON (IMG-5). Throws the 400 that names the field. */
export const toJsonEditParams = (json: JsonObject, fetchImages: FetchImages): Omit<ImageParams, 'dryRun'> => {
  const sent = parseWith(editJson, json);
  const images = readEditImages(json);
  const isKnown = (name: string): boolean => Object.hasOwn(editJson.shape, name) || editImageNames.includes(name);
  const edit = toEdit({ sent, fields: json, isKnown, imagesFor: (model) => toJsonEditImages(images, model) });
  return { ...edit, gather: isRemote(images) ? createGather(fetchImages) : undefined };
};
