import type { TextModel } from '../catalog/schema.ts';
import type { PromptSize, TextRequest } from './text-request.ts';

/** What a vendor adds around a conversation. */
const TOKENS_AROUND = 64;
/** No token of the vendors' vocabularies stands for more bytes than this. */
const BYTES_PER_TOKEN_MAX = 128;

/** What a vendor tells a model about tools, beside the tools themselves. */
const TOKENS_AROUND_TOOLS = 1_000;

/**
 * The most tokens a prompt is held for: what its text may have (docs/token-estimate.md), never more than it has bytes, and no prompt
 * is longer than the model's context. The bytes of a recording or a PDF document do not bound its tokens, so either is held for at
 * the whole context: hours of silence fit in a few kilobytes, and so do hundreds of compressed pages.
 */
export const promptTokensAtMost = (
  model: TextModel,
  { prompt, usesTools }: Pick<TextRequest, 'prompt' | 'usesTools'>,
): number => {
  const { contextTokens } = model.limits;
  if (prompt.recordings || prompt.documents) return contextTokens;
  const around = TOKENS_AROUND + (usesTools ? TOKENS_AROUND_TOOLS : 0);
  const { bytes, textTokens = bytes, addedTokens = 0 } = prompt;
  const text = Math.ceil((Math.min(textTokens, bytes) + addedTokens + around) * (model.inputTokenFactor ?? 1));
  const images = prompt.images.reduce((sum, detail) => sum + model.imageTokensMax[detail], 0);
  return Math.min(text + images, contextTokens);
};

/** The fewest tokens a prompt can have. Above the context it cannot fit (CHAT-13). */
export const promptTokensAtLeast = (prompt: PromptSize): number => Math.floor(prompt.bytes / BYTES_PER_TOKEN_MAX);
