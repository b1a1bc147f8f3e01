import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { FinishReason } from '../../core/text/text-wire.ts';
import type { WireBatch } from '../read-stream.ts';
import { unreadable } from '../refusals.ts';
import { finishReasonOf, stringIn, toToolCall } from './responses-answer.ts';

type Take = (event: JsonObject, out: WireBatch) => void;

interface OpenCall {
  /** The nth call of the answer. */
  readonly index: number;
  /** How much of its arguments has gone out, in UTF-16 units. */
  sent: number;
}

interface Deltas {
  /** By the type of the event; events of other types say nothing that a chat would show. */
  readonly takes: Readonly<Partial<Record<string, Take>>>;
  readonly finishReason: (response: JsonObject) => FinishReason;
}

/** The pieces of one streamed answer in the core's own terms. */
export const createDeltas = (): Deltas => {
  /** By their place among all output items, reasoning and messages included. */
  const calls = new Map<JsonValue | undefined, OpenCall>();

  const send = (call: OpenCall, text: string, out: WireBatch): void => {
    if (text === '') return;
    call.sent += text.length;
    out.neutral({ kind: 'tool_arguments', index: call.index, text });
  };

  /** Begun or done, an item says all that is known of it so far: what has not come in pieces is made up for. */
  const takeItem: Take = ({ item, output_index: place }, out) => {
    if (!isJsonObject(item) || item.type !== 'function_call') return;
    const { id, name, arguments: text } = toToolCall(item);
    const call = calls.get(place) ?? { index: calls.size, sent: 0 };
    if (!calls.has(place)) out.neutral({ kind: 'tool_call', index: call.index, id, name });
    calls.set(place, call);
    send(call, text.slice(call.sent), out);
  };

  return {
    takes: {
      'response.output_text.delta': ({ delta }, out) => out.neutral({ kind: 'text', text: stringIn(delta) }),
      'response.refusal.delta': ({ delta }, out) => out.neutral({ kind: 'refusal', text: stringIn(delta) }),
      'response.output_item.added': takeItem,
      'response.output_item.done': takeItem,
      'response.function_call_arguments.delta': ({ delta, output_index: place }, out) => {
        const call = calls.get(place);
        if (!call) throw unreadable();
        send(call, stringIn(delta), out);
      },
    },
    finishReason: (response) => finishReasonOf(response, calls.size > 0),
  };
};
