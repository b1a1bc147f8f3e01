import type { Composed } from '../compose.ts';
import type { ClaimedUsage } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import { mediaTypeOf } from './media.ts';
import type { Content, GenerateRequest, Part } from './request.ts';

const modalities = ['TEXT', 'IMAGE', 'VIDEO', 'AUDIO', 'DOCUMENT'] as const;
type Modality = (typeof modalities)[number];
export type TokensByModality = Readonly<Partial<Record<Modality, number>>>;

/** Made up: the vendor's depend on size, length and the resolution asked for. */
const tokensPerMedium: Readonly<Record<Modality, number>> = {
  TEXT: 0,
  IMAGE: 1120,
  VIDEO: 700,
  AUDIO: 320,
  DOCUMENT: 560,
};

/** Contents, instructions, tools and schemas: all that the vendor counts as input. */
export function countPrompt({
  contents,
  systemInstruction,
  tools,
  generationConfig,
}: GenerateRequest): TokensByModality {
  const schemas = [tools, generationConfig?.responseSchema, generationConfig?.responseJsonSchema];
  const written = schemas.filter((part) => part !== undefined).map((part) => countTokens(JSON.stringify(part)));
  const total: Partial<Record<Modality, number>> = { TEXT: sum(written) };
  for (const part of [...(contents ?? []), systemInstruction ?? {}].flatMap(({ parts }: Content) => parts ?? [])) {
    const type = mediaTypeOf(part);
    const modality = type === undefined ? 'TEXT' : toModality(type);
    const tokens = tokensPerMedium[modality] + textTokens(part);
    total[modality] = (total[modality] ?? 0) + tokens;
  }
  return total;
}

function textTokens({ text = '', functionCall, functionResponse }: Part): number {
  const structured = functionCall ?? functionResponse;
  return countTokens(text) + (structured === undefined ? 0 : countTokens(JSON.stringify(structured)));
}

function toModality(type: string): Modality {
  const found = modalities.find((modality) => type.startsWith(`${modality.toLowerCase()}/`));
  return found ?? 'DOCUMENT';
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
  /** Without the thoughts and the image. */
  readonly candidates: number;
  readonly image: number;
  readonly thoughts: number;
};

/** A claim about the output means all of it, as everywhere: thoughts are taken off for the candidates. */
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

/** Google's usage: cached tokens are part of the prompt's, thoughts are no part of the candidates'. What is 0 is left out. */
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
