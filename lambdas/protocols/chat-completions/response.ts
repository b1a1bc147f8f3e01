import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { answerTokensOf, promptTokensOf, type TokenUsage } from '../../core/pricing/charge.ts';
import type { ToolCall } from '../../core/text/conversation.ts';
import type { TextAnswer, WireAnswer } from '../../core/text/text-wire.ts';
import type { AnswerContext } from '../text-face.ts';

/**
 * CHAT-10: an answer with the catalog's model id and the members that OpenAI's own document requires but compatible servers leave
 * out. https://platform.openai.com/docs/api-reference/chat/object
 */
export const toChatCompletion = (
  { content, usage }: WireAnswer,
  { modelId, requestId, nowMs }: AnswerContext,
): JsonObject => {
  const ours = { id: `chatcmpl-${requestId}`, created: Math.floor(nowMs / 1_000) };
  if (content.kind === 'neutral') {
    const { finishReason } = content.answer;
    const choice = { index: 0, message: toMessage(content.answer), logprobs: null, finish_reason: finishReason };
    return {
      ...ours,
      object: 'chat.completion',
      model: modelId,
      choices: [choice],
      ...(usage ? { usage: toChatUsage(usage) } : {}),
    };
  }
  const { body } = content;
  return {
    ...ours,
    ...body,
    object: 'chat.completion',
    model: modelId,
    choices: (Array.isArray(body.choices) ? body.choices : []).map(toChoice),
    ...(isJsonObject(body.usage) ? { usage: withCachedTokens(body.usage) } : {}),
  };
};

const toMessage = ({ text, refusal, toolCalls }: TextAnswer): JsonObject => ({
  role: 'assistant',
  content: text,
  refusal,
  ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(toToolCall) } : {}),
});

const toToolCall = ({ id, name, arguments: text, signature }: ToolCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...signatureMember(signature),
});

/** Where Google's own OpenAI-compatible endpoint puts it: https://ai.google.dev/gemini-api/docs/thought-signatures#openai */
export const signatureMember = (signature: string | undefined): JsonObject =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

const toChoice = (choice: JsonValue): JsonValue =>
  isJsonObject(choice)
    ? {
        logprobs: null,
        ...choice,
        ...(isJsonObject(choice.message) ? { message: { refusal: null, ...choice.message } } : {}),
      }
    : choice;

/** The vendor's own counts; `cached_tokens` is always told, and never priced here (BILL-18). */
export const withCachedTokens = (usage: JsonObject): JsonObject => {
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  return { ...usage, prompt_tokens_details: { ...details, cached_tokens: details.cached_tokens ?? 0 } };
};

/** The counts of a vendor with another protocol. https://platform.openai.com/docs/api-reference/chat/object */
export const toChatUsage = (usage: TokenUsage): JsonObject => ({
  prompt_tokens: promptTokensOf(usage),
  completion_tokens: answerTokensOf(usage),
  total_tokens: promptTokensOf(usage) + answerTokensOf(usage),
  prompt_tokens_details: { cached_tokens: usage.cacheRead },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});
