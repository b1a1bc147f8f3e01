import * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { WireAnswer } from '../../core/text/text-wire.ts';
import { parseExact, readJsonText } from '../read-json.ts';
import { filtered, type RefusalContext, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { toInBandError } from './errors.ts';
import { toTokenUsage } from './messages-usage.ts';
import { toFinishReason } from './stop-reason.ts';
import type { ToParam } from './vendor-path.ts';

interface Message {
  readonly text: string;
  readonly body: JsonObject;
}

const readMessage = async (response: UpstreamResponse, told: RefusalContext, toParam: ToParam): Promise<Message> => {
  const { text, value: body } = await readJsonText(response);
  if (isJsonObject(body) && body.type === 'error') throw toInBandError(body, told, toParam);
  if (!isJsonObject(body) || !Array.isArray(body.content)) throw unreadable();
  return { text, body };
};

/** As the vendor sent it but for the model's id. A refusal is an answer (CHAT-14). */
export const toNativeAnswer = async (
  response: UpstreamResponse,
  { modelId, told, toParam }: { readonly modelId: string; readonly told: RefusalContext; readonly toParam: ToParam },
): Promise<WireAnswer> => {
  const { text, body } = await readMessage(response, told, toParam);
  const span = body.model === modelId ? undefined : topLevelString(text, 'model');
  const ours = span ? `${text.slice(0, span.start)}${JSON.stringify(modelId)}${text.slice(span.end)}` : text;
  const content = { kind: 'native', text: ours, body: span ? { ...body, model: modelId } : body } as const;
  return { kind: 'answer', content, usage: toTokenUsage(body.usage) };
};

const said = z.object({ type: z.literal('text'), text: z.string() });
const call = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() });
const other = z.object({ type: z.string().refine((type) => type !== 'text' && type !== 'tool_use') });
/** https://platform.claude.com/docs/en/api/messages: blocks of types that no client of another protocol knows stay out. */
const answer = z.object({
  content: z.array(z.union([said, call, other])),
  stop_reason: z.string(),
});

export const toNeutralAnswer = async (
  response: UpstreamResponse,
  { told, toParam }: { readonly told: RefusalContext; readonly toParam: ToParam },
): Promise<WireAnswer> => {
  const message = await readMessage(response, told, toParam);
  const parsed = answer.safeParse(exactly(message));
  if (!parsed.success) throw unreadable();
  const { content, stop_reason: stopReason } = parsed.data;
  if (stopReason === 'refusal') throw filtered();
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

/** Arguments keep the digits of their numbers. */
const exactly = ({ text, body }: Message): JsonValue => {
  if (!text.includes('"tool_use"')) return body;
  try {
    return parseExact(text);
  } catch {
    return body;
  }
};
