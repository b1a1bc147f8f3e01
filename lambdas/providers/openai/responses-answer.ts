import * as z from 'zod';
import type { ReasoningTokens } from '../../core/catalog/providers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { ToolCall } from '../../core/text/conversation.ts';
import type { FinishReason, TextAnswer, WireAnswer } from '../../core/text/text-wire.ts';
import { readJsonText, tokenCount } from '../read-json.ts';
import { filtered, incomplete, type RefusalContext, unreadable } from '../refusals.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { type FieldNames, toInBandResponsesError } from './errors.ts';
import { withModel } from './renamed-model.ts';
import { phaseOf, SpokenText } from './spoken-text.ts';
import { toDisjointCounts } from './token-usage.ts';

/**
 * `ResponseUsage` in the package openai 7.55.0 (resources/responses/responses.d.ts): `input_tokens` includes all tokens
 * that were read from or written to a cache, and `output_tokens` includes reasoning.
 */
const responsesUsage = z.object({
  input_tokens: tokenCount,
  output_tokens: tokenCount,
  total_tokens: tokenCount,
  input_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish().catch(null),
  output_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined if the provider reported no usage or none that can be counted. */
export const toResponsesUsage = (reported: unknown, reasoningTokens?: ReasoningTokens): TokenUsage | undefined => {
  const { data } = responsesUsage.safeParse(reported);
  if (!data) return undefined;
  const counts = {
    prompt: data.input_tokens,
    completion: data.output_tokens,
    total: data.total_tokens,
    cached: data.input_tokens_details?.cached_tokens,
    cacheWrite: data.input_tokens_details?.cache_write_tokens,
    reasoning: data.output_tokens_details?.reasoning_tokens,
  };
  return toDisjointCounts(counts, reasoningTokens);
};

/**
 * https://developers.openai.com/api/reference/resources/responses. Any other status means failed, cancelled or in
 * progress.
 */
const ended: ReadonlySet<JsonValue | undefined> = new Set(['completed', 'incomplete', undefined]);

export interface Reading {
  readonly refusalContext: RefusalContext;
  readonly names: FieldNames;
  readonly reasoningTokens?: ReasoningTokens | undefined;
}

/**
 * Returns the response unchanged except for the model's id, even if the provider's filter stopped the output (CHAT-14).
 */
export const toNativeAnswer = async (
  response: UpstreamResponse,
  reading: Reading,
  modelId: string,
): Promise<WireAnswer> => {
  const { text, body } = await readEnded(response, reading);
  const content = { kind: 'native', text: withModel(text, body, modelId), body: { ...body, model: modelId } } as const;
  return { kind: 'answer', content, usage: toResponsesUsage(body.usage, reading.reasoningTokens) };
};

export const toNeutralAnswer = async (response: UpstreamResponse, reading: Reading): Promise<WireAnswer> => {
  const { body, output } = await readEnded(response, reading);
  const usage = toResponsesUsage(body.usage, reading.reasoningTokens);
  return { kind: 'answer', content: { kind: 'neutral', answer: toTextAnswer(body, output, usage) }, usage };
};

const readEnded = async (response: UpstreamResponse, { refusalContext, names }: Reading) => {
  const { text, value: body } = await readJsonText(response);
  if (!isJsonObject(body)) throw unreadable();
  if (isJsonObject(body.error)) throw toInBandResponsesError(body, refusalContext, names);
  if (!ended.has(body.status)) throw incomplete();
  const { output } = body;
  if (!Array.isArray(output)) throw unreadable();
  return { text, body, output: output.filter(isJsonObject) };
};

const toTextAnswer = (body: JsonObject, output: readonly JsonObject[], usage: TokenUsage | undefined): TextAnswer => {
  const toolCalls = output.filter(({ type }) => type === 'function_call').map(toToolCall);
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => contentOf(content));
  const refusals = parts.flatMap((part) => (part.type === 'refusal' ? [stringIn(part.refusal)] : []));
  const refusal = refusals.length > 0 ? refusals.join('') : null;
  const text = textOf(output);
  const silent = text === '' && (toolCalls.length > 0 || refusal !== null);
  const finishReason = finishReasonOf(body, { calls: toolCalls.length > 0, content: false, usage });
  return { text: silent ? null : text, refusal, toolCalls, finishReason };
};

const textOf = (output: readonly JsonObject[]): string => {
  const spoken = new SpokenText();
  const texts = output.flatMap((item, place) => {
    if (item.type === 'function_call') return spoken.take();
    if (item.type !== 'message') return [];
    return contentOf(item.content).map((part) =>
      part.type === 'output_text' ? spoken.add(place, phaseOf(item), stringIn(part.text)) : '',
    );
  });
  return [...texts, spoken.take()].join('');
};

const contentOf = (content: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(content) ? content.filter(isJsonObject) : [];

/** Kinds of content that a stream has already sent, and the usage. */
interface Sent {
  readonly calls: boolean;
  readonly content: boolean;
  readonly usage: TokenUsage | undefined;
}

/** Throws content_filter for a response that a filter stopped before its content was sent (CHAT-14). */
export const finishReasonOf = (response: JsonObject, { calls, content, usage }: Sent): FinishReason => {
  const details = isJsonObject(response.incomplete_details) ? response.incomplete_details : {};
  if (details.reason === 'content_filter') {
    if (content && usage) return 'content_filter';
    throw filtered(usage);
  }
  if (response.status === 'incomplete') return 'length';
  return calls ? 'tool_calls' : 'stop';
};

export const stringIn = (value: JsonValue | undefined): string => {
  if (typeof value !== 'string') throw unreadable();
  return value;
};

export const toToolCall = (item: JsonObject): ToolCall => ({
  id: stringIn(item.call_id),
  name: stringIn(item.name),
  arguments: stringIn(item.arguments ?? ''),
});
