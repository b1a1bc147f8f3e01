import type { TextModel } from '../catalog/schema.ts';
import type { PromptSize } from './text-request.ts';

/** What a vendor adds around a conversation. */
const TOKENS_AROUND = 64;
/** No token of the vendors' vocabularies stands for more bytes than this. */
const BYTES_PER_TOKEN_MAX = 128;

/**
 * The most tokens a prompt can have: a token covers at least one byte, and no prompt is longer than the model's context.
 */
export const promptTokensAtMost = (model: TextModel, prompt: PromptSize): number => {
  const text = Math.ceil((prompt.bytes + TOKENS_AROUND) * (model.inputTokenFactor ?? 1));
  const images = prompt.images.reduce((sum, detail) => sum + model.imageTokensMax[detail], 0);
  return Math.min(text + images, model.limits.contextTokens);
};

/** The fewest tokens a prompt can have. Above the context it cannot fit (CHAT-13). */
export const promptTokensAtLeast = (prompt: PromptSize): number => Math.floor(prompt.bytes / BYTES_PER_TOKEN_MAX);
