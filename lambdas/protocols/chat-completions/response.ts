import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { formatUsd } from '../../core/money/usd.ts';
import type { Receipt } from '../../core/paid-call/settle.ts';
import { answerTokensOf, promptTokensOf, type TokenUsage } from '../../core/pricing/charge.ts';
import type { ToolCall } from '../../core/text/conversation.ts';
import type { Ending, TextAnswer, TextDelta, WireAnswer } from '../../core/text/text-wire.ts';
import { toErrorBody } from '../../http/render-error.ts';
import type { AnswerContext, StreamContext, StreamRenderer, TextProtocolAdapter } from '../text-adapter.ts';
import { toTextParams } from './request.ts';
import { StopCutter } from './stop-cutter.ts';
import { toStopSequences } from './stop-matcher.ts';

/**
 * CHAT-10: a response with the catalog's model id, and with the members that OpenAI's document requires but compatible
 * servers omit. https://platform.openai.com/docs/api-reference/chat/object
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

/**
 * Same member as in Google's OpenAI-compatible endpoint:
 * https://ai.google.dev/gemini-api/docs/thought-signatures#openai
 */
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

/**
 * The provider's counts without those of a cache, because clients compute a discount or a surcharge from them, and every
 * prompt token has one price here (BILL-18). `cached_tokens` is always included. Receipts keep all counts.
 */
export const withCachedTokens = (usage: JsonObject): JsonObject => {
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const { cache_write_tokens, cache_write_tokens_details, ...others } = details;
  return { ...usage, prompt_tokens_details: { ...others, cached_tokens: 0 } };
};

/** Counts of a provider with another protocol. https://platform.openai.com/docs/api-reference/chat/object */
export const toChatUsage = (usage: TokenUsage): JsonObject => ({
  prompt_tokens: promptTokensOf(usage),
  completion_tokens: answerTokensOf(usage),
  total_tokens: promptTokensOf(usage) + answerTokensOf(usage),
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

const asEvents = (chunks: readonly string[]): string => `data: ${chunks.join('\n\ndata: ')}\n\n`;

/**
 * Renders chunks as server-sent events. The last finish reason, the usage and the cost form one chunk, or two if the
 * client requested the usage. `[DONE]` follows. After an error event there is no `[DONE]` (CHAT-11, BILL-9).
 */
export const chatStream = (context: StreamContext): StreamRenderer => {
  const { write } = context;
  const chunks = createChunks(context);
  return {
    native: (events) => write(asEvents(events)),
    neutral: (deltas) => {
      const events = chunks.toChunks(deltas);
      if (events.length > 0) write(asEvents(events));
    },
    finish: (ending, receipt) => {
      const last = toLastChunk(ending, receipt, chunks);
      const events = context.separateUsage ? withSeparateUsage(last) : [last];
      write(asEvents([...events.map((event) => JSON.stringify(event)), '[DONE]']));
    },
    fail: (error) => write(asEvents([JSON.stringify(toErrorBody(error, 'plain', context.requestId))])),
  };
};

const toLastChunk = (ending: Ending, { costPicos, usage }: Receipt, chunks: Chunks): JsonObject => {
  const costUsd = formatUsd(costPicos);
  // BILL-15: the exact number, which can have more digits than a double, and the same value as a string for readers
  // that round.
  const cost = { cost: JSON.rawJSON(costUsd), cost_usd: costUsd };
  if (ending.kind === 'neutral') {
    return { ...chunks.toLast(ending.finishReason), usage: { ...(usage && toChatUsage(usage)), ...cost } };
  }
  if (ending.kind !== 'deferred') throw new Error('a result of another protocol in a chat stream');
  return { ...ending.event, usage: { ...(ending.reportedUsage && withCachedTokens(ending.reportedUsage)), ...cost } };
};

/**
 * OpenAI's form (ChatCompletionStreamOptions in the package openai 7.55.0). The accumulator
 * of openai-java 4.101.0 reads no choice from a chunk with usage. The last chunk has no choice if the provider left out a finish reason.
 */
const withSeparateUsage = ({ usage, ...last }: JsonObject): readonly JsonObject[] => {
  const isEmpty = Array.isArray(last.choices) && last.choices.length === 0;
  return [...(isEmpty ? [] : [last]), { ...last, choices: [], usage }];
};

interface Chunks {
  toChunks(deltas: readonly TextDelta[]): readonly string[];
  toLast(finishReason: string): JsonObject;
}

/** https://platform.openai.com/docs/api-reference/chat/streaming. The first chunk always has the role. */
const createChunks = ({ modelId, requestId, nowMs }: StreamContext): Chunks => {
  const ours = {
    id: `chatcmpl-${requestId}`,
    object: 'chat.completion.chunk',
    created: Math.floor(nowMs / 1_000),
    model: modelId,
  };
  const head = `${JSON.stringify(ours).slice(0, -1)},"choices":[{"index":0,"delta":`;
  const toChunk = (delta: JsonObject): string =>
    `${head}${JSON.stringify(delta)},"logprobs":null,"finish_reason":null}]}`;
  let begun = false;
  const withRole = (chunksToSend: string[]): string[] => {
    if (begun) return chunksToSend;
    begun = true;
    return [toChunk({ role: 'assistant', content: '', refusal: null }), ...chunksToSend];
  };
  return {
    toChunks: (deltas) => withRole(deltas.map((delta) => toChunk(toDelta(delta)))),
    toLast: (finishReason) => ({
      ...ours,
      choices: [
        {
          index: 0,
          delta: begun ? {} : { role: 'assistant', content: '' },
          logprobs: null,
          finish_reason: finishReason,
        },
      ],
    }),
  };
};

const toDelta = (delta: TextDelta): JsonObject => {
  switch (delta.kind) {
    case 'text':
      return { content: delta.text };
    case 'refusal':
      return { refusal: delta.text };
    case 'tool_call': {
      const { index, id, name, signature } = delta;
      const call = { index, id, type: 'function', function: { name, arguments: '' }, ...signatureMember(signature) };
      return { tool_calls: [call] };
    }
    case 'tool_arguments':
      return { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] };
  }
};

/** POST /v1/chat/completions. */
export const chatCompletions: TextProtocolAdapter = {
  protocol: 'chat_completions',
  headers: { takesKeys: true, takesFallback: true },
  toParams: ({ body }, alternatives) => toTextParams(body.json, body.bytes, alternatives),
  toBody: (answer, context) => JSON.stringify(toChatCompletion(answer, context)),
  toStream: chatStream,
  separatesUsage: ({ stream_options: options }) => isJsonObject(options) && options.include_usage === true,
  createCutter: (sequences) => new StopCutter(toStopSequences(sequences)),
};
