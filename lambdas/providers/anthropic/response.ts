import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { FinishReason, WireAnswer } from '../../core/text/text-wire.ts';
import { parseExact, readJsonText, tokenCount } from '../read-json.ts';
import { filtered, type RefusalContext, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { type ToParam, toInBandError } from './errors.ts';

interface Message {
  readonly text: string;
  readonly body: JsonObject;
}

const readMessage = async (
  response: UpstreamResponse,
  refusalContext: RefusalContext,
  toParam: ToParam,
): Promise<Message> => {
  const { text, value: body } = await readJsonText(response);
  if (isJsonObject(body) && body.type === 'error') throw toInBandError(body, refusalContext, toParam);
  if (!isJsonObject(body) || !Array.isArray(body.content)) throw unreadable();
  return { text, body };
};

/** Provider's body, unchanged except for the model's id. A refusal counts as a result (CHAT-14). */
export const toNativeAnswer = async (
  response: UpstreamResponse,
  {
    modelId,
    refusalContext,
    toParam,
  }: { readonly modelId: string; readonly refusalContext: RefusalContext; readonly toParam: ToParam },
): Promise<WireAnswer> => {
  const { text, body } = await readMessage(response, refusalContext, toParam);
  const span = body.model === modelId ? undefined : topLevelString(text, 'model');
  const ours = span ? `${text.slice(0, span.start)}${JSON.stringify(modelId)}${text.slice(span.end)}` : text;
  const content = { kind: 'native', text: ours, body: span ? { ...body, model: modelId } : body } as const;
  return { kind: 'answer', content, usage: toTokenUsage(body.usage) };
};

const said = z.object({ type: z.literal('text'), text: z.string() });

const call = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });

const other = z.object({ type: z.string().refine((type) => type !== 'text' && type !== 'tool_use') });

/**
 * https://platform.claude.com/docs/en/api/messages: drops blocks of types that clients of other protocols do not know.
 */
const answer = z.object({
  content: z.array(z.union([said, call, other])),
  stop_reason: z.string(),
});

export const toNeutralAnswer = async (
  response: UpstreamResponse,
  { refusalContext, toParam }: { readonly refusalContext: RefusalContext; readonly toParam: ToParam },
): Promise<WireAnswer> => {
  const message = await readMessage(response, refusalContext, toParam);
  const parsed = answer.safeParse(exactly(message));
  if (!parsed.success) throw unreadable();
  const { content, stop_reason: stopReason } = parsed.data;
  if (stopReason === 'refusal') throw filtered(toTokenUsage(message.body.usage));
  const text = content.map((block) => ('text' in block ? block.text : '')).join('');
  const toolCalls = content.flatMap((block) =>
    'input' in block ? [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input ?? {}) }] : [],
  );
  return {
    kind: 'answer',
    content: {
      kind: 'neutral',
      answer: {
        text: text === '' && toolCalls.length > 0 ? null : text,
        refusal: null,
        toolCalls,
        finishReason: toFinishReason(stopReason),
      },
    },
    usage: toTokenUsage(message.body.usage),
  };
};

/** Parses the message so that arguments keep the digits of their numbers. */
const exactly = ({ text, body }: Message): JsonValue => {
  if (!text.includes('"tool_use"')) return body;
  try {
    return parseExact(text);
  } catch {
    return body;
  }
};

/**
 * https://platform.claude.com/docs/en/api/messages: `input_tokens` excludes cached tokens, `output_tokens` includes
 * thinking, and `cache_creation` splits `cache_creation_input_tokens`.
 */
const messagesUsage = z.object({
  input_tokens: tokenCount,
  cache_read_input_tokens: tokenCount,
  cache_creation_input_tokens: tokenCount,
  cache_creation: z
    .object({ ephemeral_5m_input_tokens: tokenCount, ephemeral_1h_input_tokens: tokenCount })
    .nullish()
    .catch(null),
  output_tokens: tokenCount,
  output_tokens_details: z.object({ thinking_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined if the provider reported no usage or none that can be counted. */
export const toTokenUsage = (reported: unknown): TokenUsage | undefined => {
  const { data } = messagesUsage.safeParse(reported);
  if (!data || (data.input_tokens ?? data.output_tokens ?? undefined) === undefined) return undefined;
  const output = data.output_tokens ?? 0;
  const reasoning = Math.min(data.output_tokens_details?.thinking_tokens ?? 0, output);
  const { ephemeral_5m_input_tokens: for5m, ephemeral_1h_input_tokens: for1h } = data.cache_creation ?? {};
  const written = data.cache_creation_input_tokens ?? (for5m ?? 0) + (for1h ?? 0);
  const cacheWrite1h = Math.min(for1h ?? 0, written);
  return {
    input: data.input_tokens ?? 0,
    cacheRead: data.cache_read_input_tokens ?? 0,
    cacheWrite: written - cacheWrite1h,
    cacheWrite1h,
    output: output - reasoning,
    reasoning,
  };
};

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
]);

/**
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons. `end_turn`, `stop_sequence`,
 * `pause_turn` and any new reason become `stop`.
 */
export const toFinishReason = (stopReason: string): FinishReason => reasons.get(stopReason) ?? 'stop';
