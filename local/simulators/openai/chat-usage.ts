import type { ClaimedUsage } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import type { Choice } from './chat-choice.ts';
import { type ChatRequest, imagesOf, messageText } from './chat-request.ts';
import { imageTokens } from './image-tokens.ts';

const tokensPerMessage = 3;

/** Messages, images, tools and schema: all that the provider counts as input. */
export function countPromptTokens(request: ChatRequest): number {
  const rest = [request.tools, request.response_format].filter((part) => part != null);
  return (
    tokensPerMessage +
    request.messages.reduce((sum, message) => sum + messageTokens(message), 0) +
    rest.reduce((sum, part) => sum + countTokens(JSON.stringify(part)), 0)
  );
}

function messageTokens(message: ChatRequest['messages'][number]): number {
  const images = imagesOf(message).map(({ detail }) => imageTokens(detail));
  const calls = message.role === 'assistant' && message.tool_calls ? JSON.stringify(message.tool_calls) : '';
  return tokensPerMessage + countTokens(messageText(message) + calls) + images.reduce((sum, tokens) => sum + tokens, 0);
}

/** OpenAI's usage: prompt tokens include cached tokens, and completion tokens include reasoning tokens. */
export function toChatUsage(promptTokens: number, choices: readonly Choice[], claimed: ClaimedUsage = {}) {
  const prompt = claimed.input ?? promptTokens;
  const completion = claimed.output ?? choices.reduce((sum, choice) => sum + choice.outputTokens, 0);
  const reasoning = claimed.reasoning ?? choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: claimed.cached ?? 0,
      audio_tokens: 0,
      ...(claimed.cacheWrite === undefined ? {} : { cache_write_tokens: claimed.cacheWrite }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
