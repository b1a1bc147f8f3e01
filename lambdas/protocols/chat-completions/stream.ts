import type { JsonObject } from '../../core/json.ts';
import { formatUsd } from '../../core/money/usd.ts';
import type { Receipt } from '../../core/paid-call/settle.ts';
import type { Ending, TextDelta } from '../../core/text/text-wire.ts';
import { toErrorBody } from '../../http/render-error.ts';
import type { StreamContext, StreamFace } from '../text-face.ts';
import { signatureMember, toChatUsage, withCachedTokens } from './response.ts';

const asEvents = (chunks: readonly string[]): string => `data: ${chunks.join('\n\ndata: ')}\n\n`;

/**
 * Chunks as server-sent events. The last finish reason, the usage and the cost go out as one chunk, then `[DONE]`; after an
 * error event there is no `[DONE]` (CHAT-11, BILL-9).
 */
export const chatStream = (context: StreamContext): StreamFace => {
  const { write } = context;
  const chunks = createChunks(context);
  return {
    native: (events) => write(asEvents(events)),
    neutral: (deltas) => {
      const events = chunks.toChunks(deltas);
      if (events.length > 0) write(asEvents(events));
    },
    finish: (ending, receipt) => write(asEvents([JSON.stringify(toLastChunk(ending, receipt, chunks)), '[DONE]'])),
    fail: (error) => write(asEvents([JSON.stringify(toErrorBody(error, 'plain', context.requestId))])),
  };
};

const toLastChunk = (ending: Ending, { costPicos, usage }: Receipt, chunks: Chunks): JsonObject => {
  const costUsd = formatUsd(costPicos);
  // BILL-15: a number with every digit, which no double could hold, and the same as a string for readers that round.
  const cost = { cost: JSON.rawJSON(costUsd), cost_usd: costUsd };
  if (ending.kind === 'neutral') {
    return { ...chunks.toLast(ending.finishReason), usage: { ...(usage && toChatUsage(usage)), ...cost } };
  }
  if (ending.kind !== 'held') throw new Error('an answer of another protocol was to end a chat');
  return { ...ending.event, usage: { ...(ending.reportedUsage && withCachedTokens(ending.reportedUsage)), ...cost } };
};

interface Chunks {
  toChunks(deltas: readonly TextDelta[]): readonly string[];
  toLast(finishReason: string): JsonObject;
}

/** https://platform.openai.com/docs/api-reference/chat/streaming. The first chunk says who speaks, whatever else it says. */
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
