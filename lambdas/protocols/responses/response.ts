import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { WireAnswer } from '../../core/text/text-wire.ts';
import type { AnswerContext, StreamContext, StreamRenderer, TextProtocolAdapter } from '../text-adapter.ts';
import { toTextParams } from './request.ts';
import { messageFirst } from './to-send.ts';

/** POST /v1/responses. Its only provider uses the same protocol. */
export const responses: TextProtocolAdapter = {
  protocol: 'responses',
  headers: { takesKeys: true, takesFallback: true },
  toParams: ({ body }, alternatives) => toTextParams(body.json, body.bytes, alternatives),
  toBody: ({ content }) => toBody(content),
  toStream: (context) => toStream(context),
};

const foreign = (): Error => new Error('a result of another protocol on /v1/responses');

const toBody = (content: WireAnswer['content']): string => {
  if (content.kind !== 'native') throw foreign();
  const ordered = inOrder(content.body);
  if (ordered === content.body) return content.text;
  const sent = parseJson(content.text);
  return JSON.stringify({ ...(isJsonObject(sent) ? sent : {}), output: ordered.output });
};

/** Puts the message first (RESP-5). Returns the same object if it is already first. */
const inOrder = (response: JsonObject): JsonObject => {
  const { output } = response;
  if (!Array.isArray(output)) return response;
  const ordered = messageFirst(output);
  return ordered === output ? response : { ...response, output: ordered };
};

/**
 * Sends events with the provider's names and in its order (RESP-1).
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
const toStream = ({ write, ...context }: StreamContext): StreamRenderer => {
  let count = 0;
  let first: string | undefined;
  let last: string | undefined;
  return {
    native: (events) => {
      count += events.length;
      first ??= announcement(events[0]);
      last = events.at(-1) ?? last;
      write(events.join(''));
    },
    neutral: () => {
      throw foreign();
    },
    finish: (ending) => {
      if (ending.kind !== 'native') throw foreign();
      write(ending.events.map(lastInOrder).join(''));
    },
    fail: (error) => {
      const number = dataOf(last ?? '').sequence_number;
      const next = typeof number === 'number' ? number + 1 : count;
      const { code, message, param, type } = error;
      const { response: begun } = dataOf(first ?? '');
      const response = failedResponse(isJsonObject(begun) ? begun : {}, error, context);
      // OpenAI's reference has the members at the top, Open Responses and clients of it read `error`.
      const inside = { type, code, message, param };
      write(toEvent({ type: 'error', code, message, param, error: inside, sequence_number: next }));
      write(toEvent({ type: 'response.failed', response, sequence_number: next + 1 }));
    },
  };
};

const toEvent = (data: { readonly type: string } & JsonObject): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Data of an event. An empty object if it has none. */
const dataOf = (event: string): JsonObject => {
  try {
    const data = parseJson(event.slice(event.indexOf('data:') + 'data:'.length));
    return isJsonObject(data) ? data : {};
  } catch {
    return {};
  }
};

/** Reorders the event that holds the complete response (RESP-5). */
const lastInOrder = (event: string): string => {
  const data = dataOf(event);
  if (!isJsonObject(data.response)) return event;
  const ordered = inOrder(data.response);
  if (ordered === data.response) return event;
  const at = event.indexOf('data:');
  return `${event.slice(0, at)}data: ${JSON.stringify({ ...data, response: ordered })}\n\n`;
};

/** Limits the memory of a stream: the first event repeats the instructions and tools of the request. */
const ANNOUNCEMENT_CHARACTERS_MAX = 65_536;

const announcement = (event = ''): string => (event.length > ANNOUNCEMENT_CHARACTERS_MAX ? '' : event);

/**
 * Members of a response whose beginning is not known, with the provider's defaults. Open Responses requires all of them:
 * https://www.openresponses.org, version 2026-04-24.
 */
const unknownBeginning: JsonObject = {
  previous_response_id: null,
  instructions: null,
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  truncation: 'disabled',
  text: { format: { type: 'text' } },
  reasoning: null,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  max_output_tokens: null,
  max_tool_calls: null,
  store: false,
  background: false,
  service_tier: 'default',
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};

/**
 * Response object for a failed stream. Clients such as Codex ignore an `error` event and wait for `response.failed`.
 */
const failedResponse = (
  begun: JsonObject,
  error: GatewayError,
  { modelId, requestId, nowMs }: AnswerContext,
): JsonObject => ({
  ...unknownBeginning,
  id: `resp_${requestId}`,
  object: 'response',
  created_at: Math.floor(nowMs / 1_000),
  model: modelId,
  ...begun,
  status: 'failed',
  completed_at: null,
  error: { code: toVendorCode(error), message: error.message },
  incomplete_details: null,
  output: [],
  usage: null,
});

/**
 * Error code of the provider's own set: `ResponseError` in the package openai 7.55.0, and `context_length_exceeded`,
 * which Codex reads: https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs
 */
const toVendorCode = ({ code, status }: GatewayError): string => {
  if (code === 'context_length_exceeded' || code === 'invalid_image_format') return code;
  if (status === 429) return 'rate_limit_exceeded';
  return status < 500 ? 'invalid_prompt' : 'server_error';
};
