import type * as z from 'zod';
import { readImageInput } from './image-input.ts';
import { isRecord } from './json-sample.ts';
import { type ChatRequest, chatRequestSchema, imagesOf, messageText } from './openai-chat-request.ts';
import { contextLengthError, openaiError } from './openai-error.ts';
import type { VendorRefusal } from './wire.ts';

export function isReasoningModel(model: string): boolean {
  return /^gpt-[56]/.test(model);
}

/** Models whose reasoning cannot be turned off. */
function reasonsAlways(model: string): boolean {
  return /^gpt-6(-astra|\.1-sol|\.2-)/.test(model);
}

/** The request, or the vendor's 400. */
export function parseChatRequest(body: unknown): ChatRequest {
  if (!isRecord(body)) throw openaiError(400, 'We could not parse the JSON body of your request.');
  if (body.model === undefined || body.model === '') throw openaiError(400, 'you must provide a model parameter');
  const parsed = chatRequestSchema.safeParse(body);
  if (!parsed.success) throw schemaError(parsed.error);
  for (const rule of rules) {
    const refusal = rule(parsed.data);
    if (refusal !== undefined) throw refusal;
  }
  return parsed.data;
}

type Rule = (request: ChatRequest) => VendorRefusal | undefined;

const rules: readonly Rule[] = [
  refuseCaps,
  refuseSampling,
  refuseEffort,
  refuseStreamOptions,
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

const samplingFields = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
] as const;

function refuseSampling(request: ChatRequest): VendorRefusal | undefined {
  if (!isReasoningModel(request.model) || request.reasoning_effort === 'none') return undefined;
  const field = samplingFields.find((name) => request[name] != null);
  return field === undefined ? undefined : unsupported(field);
}

function refuseEffort({ model, reasoning_effort: effort, tools }: ChatRequest): VendorRefusal | undefined {
  if (!isReasoningModel(model)) return effort == null ? undefined : unsupported('reasoning_effort');
  if (effort === 'none' && reasonsAlways(model)) {
    const message = `Unsupported value: 'reasoning_effort' does not support 'none' with this model.`;
    return openaiError(400, message, { param: 'reasoning_effort', code: 'unsupported_value' });
  }
  if (tools === undefined || tools.length === 0 || effort === 'none') return undefined;
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

/** A tool's result has to answer a call that stands before it. */
function refuseToolMessages({ messages }: ChatRequest): VendorRefusal | undefined {
  const called = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') for (const call of message.tool_calls ?? []) called.add(call.id);
    if (message.role !== 'tool' || called.has(message.tool_call_id)) continue;
    const text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    return openaiError(400, `Invalid parameter: ${text}`, { param: `messages.[${index}].role` });
  }
  return undefined;
}

function refuseJsonFormat({ messages, response_format: format }: ChatRequest): VendorRefusal | undefined {
  if (format?.type !== 'json_object') return undefined;
  if (messages.some((message) => /json/i.test(messageText(message)))) return undefined;
  const text = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  return openaiError(400, text, { param: 'messages' });
}

function refuseImages({ messages }: ChatRequest): VendorRefusal | undefined {
  for (const { url } of messages.flatMap(imagesOf)) {
    const { kind } = readImageInput(url);
    if (kind === 'unreachable') {
      return openaiError(400, `Error while downloading ${url}.`, { code: 'invalid_image_url' });
    }
    if (kind === 'unsupported') {
      const formats = "['png', 'jpeg', 'gif', 'webp']";
      const message = `You uploaded an unsupported image. Please make sure your image has of one the following formats: ${formats}.`;
      return openaiError(400, message, { code: 'invalid_image_format' });
    }
  }
  return undefined;
}

/** The mini models have the smaller window; the rest of the family shares the larger one. */
export function refuseTooLong(model: string, promptTokens: number): VendorRefusal | undefined {
  const limit = /^gpt-5.*mini/.test(model) ? 400_000 : 1_047_576;
  return promptTokens > limit ? contextLengthError('messages', limit, promptTokens) : undefined;
}

function unsupported(param: string, hint = ''): VendorRefusal {
  const message = `Unsupported parameter: '${param}' is not supported with this model. ${hint}`.trim();
  return openaiError(400, message, { param, code: 'unsupported_parameter' });
}

function schemaError(error: z.ZodError): VendorRefusal {
  const issue = error.issues[0];
  if (issue === undefined) return openaiError(400, 'Invalid request.');
  const param = toParam(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const unknown = toParam([...issue.path, issue.keys[0] ?? '']);
    return openaiError(400, `Unknown parameter: '${unknown}'.`, { param: unknown, code: 'unknown_parameter' });
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
    const message = `Missing required parameter: '${param}'.`;
    return openaiError(400, message, { param, code: 'missing_required_parameter' });
  }
  const code = issue.code === 'invalid_type' ? 'invalid_type' : 'invalid_value';
  return openaiError(400, `Invalid '${param}': ${issue.message}.`, { param, code });
}

/** `messages[0].content`, as the vendor writes it. */
function toParam(path: readonly PropertyKey[]): string {
  return path.reduce<string>((written, step) => {
    if (typeof step === 'number') return `${written}[${step}]`;
    return written === '' ? String(step) : `${written}.${String(step)}`;
  }, '');
}
