import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import { type ImageMediaType, sniffImage } from '../../core/image-type.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { ToolCall } from '../../core/text/conversation.ts';
import type { FinishReason, TextAnswer, WireAnswer } from '../../core/text/text-wire.ts';
import { readJsonText, tokenCount } from '../read-json.ts';
import { filtered, incomplete, type RefusalContext, unreadable } from '../refusals.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { type AskedIn, brokenOff, noImage, toInBandError } from './errors.ts';

export const readAnswer = async (response: UpstreamResponse, inBand: InBand): Promise<WireAnswer> => {
  const { text, value } = await readJsonText(response);
  const { body, ...generated } = toGenerated(value, inBand);
  if (generated.candidates.length === 0 && !blocked(generated)) throw incomplete();
  const usage = inBand.linkImage
    ? toDrawnUsage(generated.usageMetadata, holdsImage(text))
    : toTokenUsage(generated.usageMetadata);
  return inBand.protocol === 'generate_content'
    ? { kind: 'answer', content: { kind: 'native', text, body }, usage }
    : { kind: 'answer', content: { kind: 'neutral', answer: await toTextAnswer(generated, inBand.linkImage) }, usage };
};

const toTextAnswer = async (generated: Generated, linkImage: LinkImage | undefined): Promise<TextAnswer> => {
  if (blocked(generated)) throw filtered();
  const [candidate] = generated.candidates;
  const reason = candidate && finishReasonOf(candidate);
  if (!reason) throw incomplete();
  // Nothing of a blocked answer is stored.
  refuseBlocked(reason);
  const parts = partsOf(candidate);
  const toolCalls = parts
    .filter(({ functionCall }) => functionCall)
    .flatMap((part, index) => toToolCall(part, generated.responseId, index) ?? []);
  const content = new LinkedContent(linkImage);
  const text = parts.map((part) => content.take(part)).join('');
  const finishReason = toFinishReason(reason, { calls: toolCalls.length > 0, text: text !== '' });
  await content.store();
  return { text: text === '' && toolCalls.length > 0 ? null : text, refusal: null, toolCalls, finishReason };
};

const part = z.object({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  inlineData: z.object({ data: z.string().nullish() }).nullish(),
  functionCall: z.object({ id: z.string().nullish(), name: z.string().min(1), args: z.unknown().optional() }).nullish(),
});

const partList = z.array(part);

export type Part = z.output<typeof part>;

/**
 * A whole answer or a piece of a streamed one. https://ai.google.dev/api/generate-content#generatecontentresponse: the first
 * candidate's index may be left out, and a prompt that was blocked has no candidates.
 */
const generated = z.object({
  candidates: z
    .array(
      z.object({
        index: z.int().catch(0),
        content: z.object({ parts: z.array(z.unknown()).nullish() }).nullish(),
        finishReason: z.string().nullish(),
      }),
    )
    .nullish()
    .transform((candidates) => candidates ?? []),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z.unknown().optional(),
  responseId: z.string().nullish().catch(null),
});

export type Generated = z.output<typeof generated>;

type Candidate = Generated['candidates'][number];

/** Looked into only for clients of another protocol: others get them as they came. */
export const partsOf = (candidate: Candidate | undefined): readonly Part[] => {
  const parsed = partList.safeParse(candidate?.content?.parts ?? []);
  if (!parsed.success) throw unreadable();
  return parsed.data;
};

export interface InBand {
  readonly told: RefusalContext;
  readonly protocol: AskedIn;
  /** Link function, for an image model. */
  readonly linkImage?: LinkImage | undefined;
}

/** Throws the error of a body that is an error instead of a response. */
export const toGenerated = (body: JsonValue, { told, protocol }: InBand): Generated & { readonly body: JsonObject } => {
  const object = Array.isArray(body) ? body[0] : body;
  if (isJsonObject(object) && isJsonObject(object.error)) throw toInBandError(object, told, protocol);
  const parsed = generated.safeParse(body);
  if (!isJsonObject(body) || !parsed.success) throw unreadable();
  return { ...parsed.data, body };
};

export const readChunk = (data: string, inBand: InBand): Generated => toGenerated(parseChunk(data), inBand);

const parseChunk = (data: string): JsonValue => {
  try {
    return parseJson(data);
  } catch {
    throw unreadable();
  }
};

export const blocked = ({ promptFeedback }: Generated): boolean => Boolean(promptFeedback?.blockReason);

/** The proto's zero value says that the model goes on. */
export const finishReasonOf = ({ finishReason }: Candidate): string | undefined =>
  finishReason && finishReason !== 'FINISH_REASON_UNSPECIFIED' ? finishReason : undefined;

/** Finish reasons that count as filtered. Source: https://ai.google.dev/api/generate-content#FinishReason */
const filters: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);

/** `CONTINUATION`: the vendor's own limit for one request; no client of another protocol could ask for the rest. */
const lengths: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION']);

export const refuseBlocked = (reason: string): void => {
  if (filters.has(reason)) throw filtered();
};

/** `NO_IMAGE`: a model that draws has answered in words alone. */
const complete: ReadonlySet<string> = new Set(['STOP', 'NO_IMAGE']);

/** What an answer has said by its end. */
interface Said {
  readonly calls: boolean;
  readonly text: boolean;
}

/**
 * CHAT-14: throws for an answer that was blocked. One that broke off for another reason, such as a call that could not be read, is
 * an error only if it has said nothing: what it has said is the client's and is charged, and is told to be incomplete.
 */
export const toFinishReason = (reason: string, { calls, text }: Said): FinishReason => {
  refuseBlocked(reason);
  if (lengths.has(reason)) return 'length';
  if (reason !== 'STOP' && !calls && !text) throw brokenOff(reason);
  if (!complete.has(reason)) return 'length';
  return calls ? 'tool_calls' : 'stop';
};

/**
 * https://ai.google.dev/api/generate-content#UsageMetadata: `promptTokenCount` includes what came from a cache,
 * what is 0 is left out, `candidatesTokenCount` excludes the thoughts, and what tools gave back to the model is counted by itself. `totalTokenCount` is the
 * sum of all and adds nothing.
 */
const usageMetadata = z.object({
  promptTokenCount: tokenCount,
  cachedContentTokenCount: tokenCount,
  toolUsePromptTokenCount: tokenCount,
  candidatesTokenCount: tokenCount,
  thoughtsTokenCount: tokenCount,
});

/** Undefined when the vendor reported none, or nothing that can be counted (BILL-10). */
export const toTokenUsage = (reported: unknown): TokenUsage | undefined => {
  const { data } = usageMetadata.safeParse(reported);
  if (!data) return undefined;
  const { promptTokenCount, toolUsePromptTokenCount, candidatesTokenCount, thoughtsTokenCount } = data;
  if ((promptTokenCount ?? candidatesTokenCount ?? thoughtsTokenCount ?? undefined) === undefined) return undefined;
  const prompt = promptTokenCount ?? 0;
  const cacheRead = Math.min(data.cachedContentTokenCount ?? 0, prompt);
  return {
    input: prompt - cacheRead + (toolUsePromptTokenCount ?? 0),
    cacheRead,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: candidatesTokenCount ?? 0,
    reasoning: thoughtsTokenCount ?? 0,
  };
};

/** https://ai.google.dev/api/generate-content#ModalityTokenCount */
const candidatesDetails = z.object({
  candidatesTokensDetails: z.array(z.object({ modality: z.string().catch(''), tokenCount })).catch([]),
});

/**
 * The usage of a model that draws: tokens of images are sold apart. Where the vendor does not tell them, they are all that is not told
 * to be text, if the answer holds an image at all. Images of the prompt are sold as its text is.
 */
export const toDrawnUsage = (reported: unknown, holdsImage: boolean): TokenUsage | undefined => {
  const usage = toTokenUsage(reported);
  if (!usage) return undefined;
  const details = candidatesDetails.safeParse(reported).data?.candidatesTokensDetails ?? [];
  const told = (wanted: string): number =>
    details.reduce((sum, { modality, tokenCount: count }) => sum + (modality === wanted ? (count ?? 0) : 0), 0);
  const rest = holdsImage ? Math.max(0, usage.output - told('TEXT')) : 0;
  const imageOutput = told('IMAGE') || rest;
  return imageOutput === 0 ? usage : { ...usage, output: Math.max(0, usage.output - imageOutput), imageOutput };
};

/** Whether JSON of the vendor's has an image in it. In a text the quotes would be escaped. */
export const holdsImage = (json: string): boolean => json.includes('"inlineData"');

const OURS = 'call_gw_';

/**
 * Returns the id of a call. Older models send none; then the id is derived from the response, so that the same response
 * always has the same ids.
 */
const callId = (id: string | null | undefined, responseId: string | null | undefined, index: number): string =>
  id || `${OURS}${responseId || 'answer'}_${index}`;

/** Whether the id comes from the provider. The provider does not know the gateway's own ids. */
export const isVendorsId = (id: string): boolean => !id.startsWith(OURS);

/** A call comes whole. */
export const toToolCall = (
  { functionCall, thoughtSignature }: Part,
  responseId: string | null | undefined,
  index: number,
): ToolCall | undefined =>
  functionCall
    ? {
        id: callId(functionCall.id, responseId, index),
        name: functionCall.name,
        arguments: JSON.stringify(functionCall.args ?? {}),
        ...(thoughtSignature && { signature: thoughtSignature }),
      }
    : undefined;

/** Text for the client, without thoughts. */
const textOf = ({ text, thought }: Part): string => (thought ? '' : (text ?? ''));

/**
 * The base64 of an image that is the client's: with `thought` it is one that the model drew to try its idea.
 * https://ai.google.dev/gemini-api/docs/image-generation#thinking-process
 */
export const imageDataOf = ({ inlineData, thought }: Part): string | undefined =>
  thought ? undefined : (inlineData?.data ?? undefined);

/**
 * Throws `upstream_error` for what is no base64. Node's own decoder leaves out what it cannot read, and stops at padding: the length
 * tells. No pattern is matched, since a repetition over many megabytes is more than one can hold.
 */
export const decodeBytes = (data: string): Buffer => {
  const padding = data.endsWith('==') ? 2 : Number(data.endsWith('='));
  const digits = data.length - padding;
  const bytes = Buffer.from(data, 'base64');
  const whole = digits % 4 !== 1 && (padding === 0 || data.length % 4 === 0);
  if (!whole || bytes.length !== Math.floor((digits * 3) / 4)) throw unreadable();
  return bytes;
};

/** The image and what its first bytes say that it is: the type that the vendor names beside it is not asked. */
const decodeImage = (data: string): { readonly bytes: Uint8Array; readonly mediaType: ImageMediaType } => {
  const bytes = decodeBytes(data);
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw noImage();
  return { bytes, mediaType };
};

/** An image and its URL. The URL is known immediately; the image exists after `store`, which throws StoreError. */
export type LinkImage = (
  bytes: Uint8Array,
  mediaType: ImageMediaType,
) => { readonly url: string; readonly store: () => Promise<void> };

/**
 * What one answer says, as one text: an image stands in it by its link (CHAT-12), with a blank line between it and what is around it.
 * Without a function for links only text is looked for.
 */
export class LinkedContent {
  readonly #link: LinkImage | undefined;
  readonly #waiting: (() => Promise<void>)[] = [];
  #before: 'nothing' | 'text' | 'image' = 'nothing';

  constructor(link: LinkImage | undefined) {
    this.#link = link;
  }

  /** Returns the text that the part adds, '' for nothing. Throws GatewayError for an invalid image. */
  take(part: Part): string {
    const data = this.#link && imageDataOf(part);
    if (this.#link && data !== undefined) return this.#image(this.#link, data);
    const text = textOf(part);
    if (text === '') return '';
    const gap = this.#before === 'image' ? '\n\n' : '';
    this.#before = 'text';
    return `${gap}${text}`;
  }

  /**
   * Stores the image of every link, after a response has ended well. Nothing is stored before, because a broken
   * response would leave free images. Throws `service_unavailable`.
   */
  async store(): Promise<void> {
    try {
      await Promise.all(this.#waiting.splice(0).map((store) => store()));
    } catch (error) {
      throw error instanceof StoreError ? notStored(error) : error;
    }
  }

  #image(link: LinkImage, data: string): string {
    const { bytes, mediaType } = decodeImage(data);
    const { url, store } = link(bytes, mediaType);
    this.#waiting.push(store);
    const gap = this.#before === 'nothing' ? '' : '\n\n';
    this.#before = 'image';
    return `${gap}![image](${url})`;
  }
}

const notStored = (cause: StoreError): GatewayError =>
  new GatewayError('service_unavailable', 'The image could not be stored. Nothing was charged. Retry the request.', {
    cause,
  });
