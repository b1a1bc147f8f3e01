import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';

/**
 * CHAT-10: the vendor's answer with the catalog's model id and the members that OpenAI's own document requires but compatible
 * servers leave out. https://platform.openai.com/docs/api-reference/chat/object
 */
export const toChatCompletion = (body: JsonObject, modelId: string, requestId: string, nowMs: number): JsonObject => ({
  id: `chatcmpl-${requestId}`,
  created: Math.floor(nowMs / 1_000),
  ...body,
  object: 'chat.completion',
  model: modelId,
  choices: (Array.isArray(body.choices) ? body.choices : []).map(toChoice),
  ...(isJsonObject(body.usage) ? { usage: toUsage(body.usage) } : {}),
});

const toChoice = (choice: JsonValue): JsonValue =>
  isJsonObject(choice)
    ? {
        logprobs: null,
        ...choice,
        ...(isJsonObject(choice.message) ? { message: { refusal: null, ...choice.message } } : {}),
      }
    : choice;

/** The vendor's own counts; `cached_tokens` is always told, and never priced here (BILL-18). */
export const toUsage = (usage: JsonObject): JsonObject => {
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  return { ...usage, prompt_tokens_details: { ...details, cached_tokens: details.cached_tokens ?? 0 } };
};
