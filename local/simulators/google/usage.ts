import type { Composed } from '../compose.ts';
import { pdfPages } from '../pdf-pages.ts';
import type { ClaimedUsage } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import { mediaTypeOf, pdfType, resultParts } from './media.ts';
import type { Content, GenerateRequest, Part } from './request.ts';

const modalities = ['TEXT', 'IMAGE', 'VIDEO', 'AUDIO', 'DOCUMENT'] as const;
type Modality = (typeof modalities)[number];
export type TokensByModality = Readonly<Partial<Record<Modality, number>>>;

/** Invented. The provider's numbers depend on the length and on the resolution of each frame. */
const tokensPerClip = { VIDEO: 700, AUDIO: 320 } as const;

/** By resolution, for Gemini 3 and later: https://ai.google.dev/gemini-api/docs/media-resolution */
const tokensPerImage: Readonly<Record<string, number>> = { LOW: 280, MEDIUM: 560, HIGH: 1_120, ULTRA_HIGH: 2_240 };
const imageDefault = 1_120;
const pageDefault = 560;

/** Counts contents, instructions, tools and schemas: everything that the provider counts as input. */
export function countPrompt({
  contents,
  systemInstruction,
  tools,
  generationConfig,
}: GenerateRequest): TokensByModality {
  const schemas = [tools, generationConfig?.responseSchema, generationConfig?.responseJsonSchema];
  const written = schemas.filter((part) => part !== undefined).map((part) => countTokens(JSON.stringify(part)));
  const total: Partial<Record<Modality, number>> = { TEXT: sum(written) };
  const parts = [...(contents ?? []), systemInstruction ?? {}].flatMap(({ parts: own }: Content) => own ?? []);
  for (const part of parts.flatMap((own): readonly Part[] => [own, ...resultParts(own)])) {
    const { modality, tokens } = mediaTokens(part, generationConfig?.mediaResolution);
    total[modality] = (total[modality] ?? 0) + tokens + textTokens(part);
  }
  return total;
}

type Counted = { readonly modality: Modality; readonly tokens: number };

/**
 * Pages of a PDF are reported as images since Gemini 3, and their text is free. Other documents are read as text.
 * https://ai.google.dev/gemini-api/docs/document-processing
 */
function mediaTokens(part: Part, resolution: string | undefined): Counted {
  const type = mediaTypeOf(part);
  if (type === undefined) return { modality: 'TEXT', tokens: 0 };
  const data = part.inlineData?.data ?? '';
  const level = typeof part.mediaResolution?.level === 'string' ? part.mediaResolution.level : resolution;
  const perImage = tokensPerImage[level?.replace('MEDIA_RESOLUTION_', '') ?? ''];
  if (type === pdfType) return { modality: 'IMAGE', tokens: (pdfPages(data) ?? 1) * (perImage ?? pageDefault) };
  if (type.startsWith('image/')) return { modality: 'IMAGE', tokens: perImage ?? imageDefault };
  if (type.startsWith('video/')) return { modality: 'VIDEO', tokens: tokensPerClip.VIDEO };
  if (type.startsWith('audio/')) return { modality: 'AUDIO', tokens: tokensPerClip.AUDIO };
  return { modality: 'TEXT', tokens: countTokens(Buffer.from(data, 'base64').toString('utf8')) };
}

function textTokens({ text = '', functionCall, functionResponse }: Part): number {
  const structured = functionCall ?? (functionResponse && { ...functionResponse, parts: undefined });
  return countTokens(text) + (structured === undefined ? 0 : countTokens(JSON.stringify(structured)));
}

export function totalOf(tokens: TokensByModality): number {
  return sum(Object.values(tokens));
}

export function toDetails(tokens: TokensByModality) {
  return modalities.flatMap((modality) => {
    const tokenCount = tokens[modality] ?? 0;
    return tokenCount > 0 ? [{ modality, tokenCount }] : [];
  });
}

export type Counts = {
  readonly prompt: TokensByModality;
  readonly cached: number;
  /** Tokens without the thoughts and the image. */
  readonly candidates: number;
  readonly image: number;
  readonly thoughts: number;
};

/**
 * Returns the counts of a response. A claimed output count includes everything, so the thoughts are subtracted before
 * the rest is split into image and candidates.
 */
export function toCounts(
  prompt: TokensByModality,
  composed: Composed,
  claimed: ClaimedUsage = {},
  imageTokens = 0,
): Counts {
  const thoughts = claimed.reasoning ?? composed.reasoningTokens;
  const output =
    claimed.output === undefined
      ? composed.outputTokens - composed.reasoningTokens + imageTokens
      : Math.max(0, claimed.output - thoughts);
  const image = Math.min(imageTokens, output);
  const media = totalOf(prompt) - (prompt.TEXT ?? 0);
  const input = claimed.input === undefined ? prompt : { ...prompt, TEXT: Math.max(0, claimed.input - media) };
  return { prompt: input, cached: claimed.cached ?? 0, candidates: Math.max(0, output - image), image, thoughts };
}

/**
 * Returns Google's usage. The count of the prompt includes cached tokens, and the count of the candidates excludes
 * thoughts. Optional counts of 0 are left out.
 */
export function toUsageMetadata({ prompt, cached, candidates: text, image, thoughts }: Counts) {
  const promptTokenCount = totalOf(prompt);
  const candidates = text + image;
  return {
    promptTokenCount,
    ...(cached > 0 && { cachedContentTokenCount: cached, cacheTokensDetails: toDetails({ TEXT: cached }) }),
    ...(candidates > 0 && { candidatesTokenCount: candidates }),
    totalTokenCount: promptTokenCount + candidates + thoughts,
    promptTokensDetails: toDetails(prompt),
    ...(candidates > 0 && { candidatesTokensDetails: toDetails({ TEXT: text, IMAGE: image }) }),
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
