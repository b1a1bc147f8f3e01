import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import { type ImageMediaType, sniffImage } from '../../core/image-type.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { ToolCall } from '../../core/text/conversation.ts';
import type { FinishReason, TextAnswer, WireAnswer } from '../../core/text/text-wire.ts';
import { readJsonText, tokenCount } from '../read-json.ts';
import { filtered, type RefusalContext, unreadable, withoutOutput } from '../refusals.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { type AskedIn, brokenOff, noImage, toInBandError } from './errors.ts';

export const readAnswer = async (response: UpstreamResponse, inBand: InBand): Promise<WireAnswer> => {
  const { text, value } = await readJsonText(response);
  const { body, ...generated } = toGenerated(value, inBand);
  const usage = inBand.linkImage
    ? toDrawnUsage(generated.usageMetadata, holdsImage(text))
    : toTokenUsage(generated.usageMetadata);
  if (generated.candidates.length === 0 && !blocked(generated)) throw withoutOutput(usage);
  return inBand.protocol === 'generate_content'
    ? { kind: 'answer', content: { kind: 'native', text, body }, usage }
    : {
        kind: 'answer',
        content: { kind: 'neutral', answer: await toTextAnswer(generated, usage, inBand.linkImage) },
        usage,
      };
};

const toTextAnswer = async (
  generated: Generated,
  usage: TokenUsage | undefined,
  linkImage: LinkImage | undefined,
): Promise<TextAnswer> => {
  if (blocked(generated)) throw filtered(usage);
  const [candidate] = generated.candidates;
  const reason = candidate && finishReasonOf(candidate);
  if (!reason) throw withoutOutput(usage);
  // No image of a blocked response is stored.
  if (isFilter(reason)) throw filtered(usage);
  const parts = partsOf(candidate);
  const toolCalls = parts
    .filter(({ functionCall }) => functionCall)
    .flatMap((part, index) => toToolCall(part, generated.responseId, index) ?? []);
  const content = new LinkedContent(linkImage);
  const text = parts.map((part) => content.take(part)).join('');
  const finishReason = toFinishReason(reason, { calls: toolCalls.length > 0, text: text !== '' }, usage);
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
 * Complete response, or one chunk of a streamed response.
 * https://ai.google.dev/api/generate-content#generatecontentresponse: the first candidate's index can be absent, and a
 * blocked prompt has no candidates.
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

export interface WholeGenerated extends Generated {
  readonly body: JsonObject;
}

type Candidate = Generated['candidates'][number];

/**
 * Parts of a candidate, which only clients of another protocol need parsed. Throws `upstream_error` if they are
 * invalid.
 */
export const partsOf = (candidate: Candidate | undefined): readonly Part[] => {
  const parsed = partList.safeParse(candidate?.content?.parts ?? []);
  if (!parsed.success) throw unreadable();
  return parsed.data;
};

export interface InBand {
  readonly refusalContext: RefusalContext;
  readonly protocol: AskedIn;
  /** Set for image models. */
  readonly linkImage?: LinkImage | undefined;
}

/** Parses a response body. Throws the error that replaces a response. */
export const toGenerated = (body: JsonValue, { refusalContext, protocol }: InBand): WholeGenerated => {
  const object = Array.isArray(body) ? body[0] : body;
  if (isJsonObject(object) && isJsonObject(object.error)) throw toInBandError(object, refusalContext, protocol);
  const parsed = generated.safeParse(body);
  if (!isJsonObject(body) || !parsed.success) throw unreadable();
  return { ...parsed.data, body };
};

export const readChunk = (data: string, inBand: InBand): WholeGenerated => toGenerated(parseChunk(data), inBand);

const usageName = '"usageMetadata"';

/** Matches the usage if at most plain members follow it up to the end. Deeper in the event, more braces would follow. */
const usageAtEnd = /"usageMetadata"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})[^{}]*\}\s*$/y;

/** Usage of an event, which is parsed as a whole only if the usage is at an unusual place. */
export const usageIn = (event: string, inBand: InBand): JsonValue | undefined => {
  usageAtEnd.lastIndex = event.lastIndexOf(usageName);
  if (usageAtEnd.lastIndex === -1) return undefined;
  const [, usage] = usageAtEnd.exec(event) ?? [];
  return usage === undefined ? readChunk(event, inBand).body.usageMetadata : parseChunk(usage);
};

const parseChunk = (data: string): JsonValue => {
  try {
    return parseJson(data);
  } catch {
    throw unreadable();
  }
};

export const blocked = ({ promptFeedback }: Generated): boolean => Boolean(promptFeedback?.blockReason);

/** Finish reason of a candidate. Undefined while it continues, which is also the meaning of the proto's zero value. */
export const finishReasonOf = ({ finishReason }: Candidate): string | undefined =>
  finishReason && finishReason !== 'FINISH_REASON_UNSPECIFIED' ? finishReason : undefined;

/**
 * https://ai.google.dev/api/generate-content#FinishReason. Reasons that require a different prompt count as filtered.
 */
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

/** `CONTINUATION` is the provider's own limit for one request. Clients of other protocols cannot request the rest. */
const lengths: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION']);

/** Whether a finish reason means that a filter stopped the output. */
export const isFilter = (reason: string): boolean => filters.has(reason);

/** `NO_IMAGE`: an image model responded only with text. */
const complete: ReadonlySet<string> = new Set(['STOP', 'NO_IMAGE']);

/** Kinds of content that a response contained by its end. */
interface Said {
  readonly calls: boolean;
  readonly text: boolean;
}

/**
 * CHAT-14: throws for a blocked response. A response that stopped for another reason, such as an unreadable call, is an
 * error only if it has no content. Otherwise the client gets and pays for the content, with a finish reason that marks
 * it as incomplete.
 */
export const toFinishReason = (reason: string, { calls, text }: Said, usage: TokenUsage | undefined): FinishReason => {
  if (isFilter(reason)) throw filtered(usage);
  if (lengths.has(reason)) return 'length';
  if (reason !== 'STOP' && !calls && !text) throw brokenOff(reason, usage);
  if (!complete.has(reason)) return 'length';
  return calls ? 'tool_calls' : 'stop';
};

/**
 * https://ai.google.dev/api/generate-content#UsageMetadata: `promptTokenCount` includes cached tokens, zero counts are
 * absent, `candidatesTokenCount` excludes thoughts, and tokens that tools returned to the model have their own count.
 * `totalTokenCount` is only the sum.
 */
const usageMetadata = z.object({
  promptTokenCount: tokenCount,
  cachedContentTokenCount: tokenCount,
  toolUsePromptTokenCount: tokenCount,
  candidatesTokenCount: tokenCount,
  thoughtsTokenCount: tokenCount,
});

/** Undefined if the provider reported no usage or none that can be counted (BILL-10). */
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

/** Source: https://ai.google.dev/api/generate-content#ModalityTokenCount */
const candidatesDetails = z.object({
  candidatesTokensDetails: z.array(z.object({ modality: z.string().catch(''), tokenCount })).catch([]),
});

/**
 * Usage of an image model, whose image tokens have their own price. If the provider does not report them, all tokens
 * not reported as text count as image tokens, provided that the response has an image. Images of the prompt have the
 * price of its text.
 */
export const toDrawnUsage = (reported: unknown, holdsImage: boolean): TokenUsage | undefined => {
  const usage = toTokenUsage(reported);
  if (!usage) return undefined;
  const details = candidatesDetails.safeParse(reported).data?.candidatesTokensDetails ?? [];
  const refusalContext = (wanted: string): number =>
    details.reduce((sum, { modality, tokenCount: count }) => sum + (modality === wanted ? (count ?? 0) : 0), 0);
  const rest = holdsImage ? Math.max(0, usage.output - refusalContext('TEXT')) : 0;
  const imageOutput = refusalContext('IMAGE') || rest;
  return imageOutput === 0 ? usage : { ...usage, output: Math.max(0, usage.output - imageOutput), imageOutput };
};

/** Whether the provider's JSON contains an image. Inside a text the quotes would be escaped. */
export const holdsImage = (json: string): boolean => json.includes('"inlineData"');

const OURS = 'call_gw_';

/**
 * Id of a call. Older models may send none. The gateway then creates one without randomness, so that the same response
 * always has the same ids.
 */
const callId = (id: string | null | undefined, responseId: string | null | undefined, index: number): string =>
  id || `${OURS}${responseId || 'answer'}_${index}`;

/** Whether the provider created the id. It does not know the gateway's ids. */
export const isVendorsId = (id: string): boolean => !id.startsWith(OURS);

/** Call in the core's terms. Undefined for another part. The provider always sends a call as a whole. */
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

/** Text for the client, without the model's thoughts. */
const textOf = ({ text, thought }: Part): string => (thought ? '' : (text ?? ''));

/**
 * Base64 of an image for the client. Undefined for one with `thought`, which the model generated only as a draft.
 * https://ai.google.dev/gemini-api/docs/image-generation#thinking-process
 */
export const imageDataOf = ({ inlineData, thought }: Part): string | undefined =>
  thought ? undefined : (inlineData?.data ?? undefined);

/**
 * Decodes base64. Throws `upstream_error` if it is invalid. Node's decoder skips unreadable characters and stops at
 * padding, so the length shows whether it is valid. A regular expression would overflow its stack on many megabytes.
 */
export const decodeBytes = (data: string): Buffer => {
  const padding = data.endsWith('==') ? 2 : Number(data.endsWith('='));
  const digits = data.length - padding;
  const bytes = Buffer.from(data, 'base64');
  const whole = digits % 4 !== 1 && (padding === 0 || data.length % 4 === 0);
  if (!whole || bytes.length !== Math.floor((digits * 3) / 4)) throw unreadable();
  return bytes;
};

/** Image with the type that its first bytes show. The type that the provider declares is ignored. */
const decodeImage = (data: string): { readonly bytes: Uint8Array; readonly mediaType: ImageMediaType } => {
  const bytes = decodeBytes(data);
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw noImage();
  return { bytes, mediaType };
};

/** Returns the URL of an image immediately. The URL works after `store`, which throws StoreError. */
export type LinkImage = (
  bytes: Uint8Array,
  mediaType: ImageMediaType,
) => { readonly url: string; readonly store: () => Promise<void> };

/**
 * Text of one response in which a link replaces each image (CHAT-12), with a blank line around it. Without a function
 * for links, images are skipped.
 */
export class LinkedContent {
  readonly #link: LinkImage | undefined;
  readonly #waiting: (() => Promise<void>)[] = [];
  #before: 'nothing' | 'text' | 'image' = 'nothing';

  constructor(link: LinkImage | undefined) {
    this.#link = link;
  }

  /** Returns the text that the part adds, '' for none. Throws GatewayError for an invalid image. */
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
   * Stores the images of all returned links, after a response has ended successfully. Nothing is stored earlier,
   * because a client could otherwise abort the response and keep its images for free. Throws `service_unavailable`.
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
