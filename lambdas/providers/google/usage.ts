import * as z from 'zod';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { tokenCount } from '../read-json.ts';

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
