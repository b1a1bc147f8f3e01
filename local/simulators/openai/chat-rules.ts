import type { VendorRefusal } from '../wire.ts';
import { type ChatRequest, chatRequestSchema, imagesOf, messageText } from './chat-request.ts';
import { openaiError } from './error.ts';
import { isReasoningModel, reasonsAlways } from './model-traits.ts';
import { parseBody, refuseImage, unsupportedParameter } from './request-errors.ts';
import { refuseLongIds, refuseRetention } from './shared-rules.ts';

/** Parses the request, or throws the provider's 400. */
export function parseChatRequest(body: unknown): ChatRequest {
  const request = parseBody(chatRequestSchema, body);
  for (const rule of rules) {
    const refusal = rule(request);
    if (refusal !== undefined) throw refusal;
  }
  return request;
}

type Rule = (request: ChatRequest) => VendorRefusal | undefined;

const rules: readonly Rule[] = [
  refuseCaps,
  refuseSampling,
  refuseEffort,
  refuseStreamOptions,
  refuseImagesOfTools,
  refuseMetadata,
  refuseLongIds,
  refuseRetention,
  refuseToolMessages,
  refuseJsonFormat,
  refuseImages,
];

function refuseCaps({ model, max_tokens, max_completion_tokens }: ChatRequest): VendorRefusal | undefined {
  if (max_tokens == null) return undefined;
  if (isReasoningModel(model)) {
    const hint = "Use 'max_completion_tokens' instead.";
    return unsupported('max_tokens', hint);
  }
  if (max_completion_tokens == null) return undefined;
  const message =
    "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported. Please use just one of them.";
  return openaiError(400, message, { param: 'max_tokens', code: 'invalid_parameter_combination' });
}

/** Sampling fields, each with its neutral value. */
const samplingDefaults = [
  ['temperature', 1],
  ['top_p', 1],
  ['presence_penalty', 0],
  ['frequency_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
] as const;

/**
 * The defaults are accepted ("Only the default (1) value is supported"): https://github.com/johny-b/llmcomp/issues/69
 */
function refuseSampling(request: ChatRequest): VendorRefusal | undefined {
  const { model, reasoning_effort: effort, logit_bias: bias } = request;
  if (!isReasoningModel(model) || effort === 'none') return undefined;
  const changed = samplingDefaults.find(([name, value]) => (request[name] ?? value) !== value);
  if (changed !== undefined) return unsupported(changed[0]);
  return Object.keys(bias ?? {}).length === 0 ? undefined : unsupported('logit_bias');
}

function refuseEffort({ model, reasoning_effort: effort, tools }: ChatRequest): VendorRefusal | undefined {
  if (!isReasoningModel(model)) return effort == null ? undefined : unsupported('reasoning_effort');
  if (effort === 'none' && reasonsAlways(model)) {
    const message = `Unsupported value: 'reasoning_effort' does not support 'none' with this model.`;
    return openaiError(400, message, { param: 'reasoning_effort', code: 'unsupported_value' });
  }
  if (tools == null || tools.length === 0 || effort === 'none') return undefined;
  const message =
    `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. ` +
    "Please use /v1/responses or set reasoning_effort to 'none'.";
  return openaiError(400, message, { param: 'reasoning_effort' });
}

function refuseStreamOptions({ stream, stream_options: options }: ChatRequest): VendorRefusal | undefined {
  if (options == null || stream === true) return undefined;
  const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  return openaiError(400, message, { param: 'stream_options' });
}

/**
 * Newer models accept these images and do not see them: https://github.com/openai/openai-openapi/issues/523 (2026-02).
 * Source of the message: https://github.com/OpenHands/OpenHands/issues/7700 (2025-04)
 */
function refuseImagesOfTools({ messages }: ChatRequest): VendorRefusal | undefined {
  const at = messages.findIndex(
    ({ role, content }) =>
      role === 'tool' && Array.isArray(content) && content.some(({ type }) => type === 'image_url'),
  );
  if (at < 0) return undefined;
  const message =
    `Invalid 'messages[${at}]'. Image URLs are only allowed for messages with role 'user', ` +
    "but this message with role 'tool' contains an image URL.";
  return openaiError(400, message, { param: `messages[${at}]`, code: 'invalid_value' });
}

/** Sources: https://github.com/QwenLM/qwen-code/issues/243 (2025-08), https://github.com/tmc/langchaingo/issues/1484 (2026-03) */
function refuseMetadata({ metadata, store }: ChatRequest): VendorRefusal | undefined {
  if (metadata == null || store === true) return undefined;
  return openaiError(400, "The 'metadata' parameter is only allowed when 'store' is enabled.");
}

/** A tool result must answer a call before it. */
function refuseToolMessages({ messages }: ChatRequest): VendorRefusal | undefined {
  const called = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const missing = unanswered(messages, index);
    if (missing.length > 0) {
      const text =
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
        `The following tool_call_ids did not have response messages: ${missing.join(', ')}`;
      return openaiError(400, text, { param: `messages.[${index + 1}].role` });
    }
    if (message.role === 'assistant') for (const call of message.tool_calls ?? []) called.add(call.id);
    if (message.role !== 'tool' || called.has(message.tool_call_id)) continue;
    const text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    return openaiError(400, `Invalid parameter: ${text}`, { param: `messages.[${index}].role` });
  }
  return undefined;
}

/**
 * Returns the calls of an assistant message that the tool messages after it do not answer. Source of the message:
 * https://github.com/router-for-me/CLIProxyAPI/issues/2798 (2026-04-15)
 */
const unanswered = (messages: ChatRequest['messages'], index: number): readonly string[] => {
  const message = messages[index];
  if (message?.role !== 'assistant') return [];
  const rest = messages.slice(index + 1);
  const end = rest.findIndex(({ role }) => role !== 'tool');
  const answered = new Set(
    (end < 0 ? rest : rest.slice(0, end)).map((each) => each.role === 'tool' && each.tool_call_id),
  );
  return (message.tool_calls ?? []).map(({ id }) => id).filter((id) => !answered.has(id));
};

function refuseJsonFormat({ messages, response_format: format }: ChatRequest): VendorRefusal | undefined {
  if (format?.type !== 'json_object') return undefined;
  if (messages.some((message) => /json/i.test(messageText(message)))) return undefined;
  const text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  return openaiError(400, text, { param: 'messages' });
}

function refuseImages({ messages }: ChatRequest): VendorRefusal | undefined {
  for (const { url } of messages.flatMap(imagesOf)) {
    const refusal = refuseImage(url);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function unsupported(param: string, hint?: string): VendorRefusal {
  return unsupportedParameter(param, 'unsupported_parameter', hint);
}
