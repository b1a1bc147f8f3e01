import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/json.ts';
import type { Ending, FinishReason, WireEvent } from '../../core/text/text-wire.ts';
import { type Frame, readStream, type StreamReader, type WireBatch } from '../read-stream.ts';
import { incomplete, type RefusalContext, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import { type FieldNames, toInBandResponsesError } from './errors.ts';
import { withResponseModel } from './renamed-model.ts';
import { finishReasonOf, stringIn, toResponsesUsage, toToolCall } from './responses-answer.ts';

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

export interface ResponsesStreamOptions {
  readonly told: RefusalContext;
  readonly names: FieldNames;
}

/** What is made of the events of a response that is not at its end and has not failed. */
interface Face {
  /** Events that only announce an answer; nothing else has come before. */
  announce(frame: Frame, out: WireBatch): void;
  take(type: string, frame: Frame, out: WireBatch): void;
  end(frame: Frame, body: JsonObject, response: JsonObject): Ending;
}

/** Events as they came; the model's id is the only thing that is ever replaced in one. */
export const readNativeResponses = (
  body: AsyncIterable<Uint8Array>,
  options: ResponsesStreamOptions,
  modelId: string,
): AsyncGenerator<WireEvent, void> =>
  readStream(
    body,
    responsesReader(options, {
      announce: (frame, out) => out.native(renamed(frame, readObject(frame.data), modelId), true),
      take: (type, frame, out) =>
        out.native(announcements.has(type) ? renamed(frame, readObject(frame.data), modelId) : frame.text),
      end: (frame, data) => ({ kind: 'native', events: [renamed(frame, data, modelId)] }),
    }),
  );

/** The same in the core's own terms. */
export const readNeutralResponses = (
  body: AsyncIterable<Uint8Array>,
  options: ResponsesStreamOptions,
): AsyncGenerator<WireEvent, void> => {
  const deltas = createDeltas();
  return readStream(
    body,
    responsesReader(options, {
      announce: (_frame, out) => out.announce(),
      take: (type, { data }, out) => {
        const take = deltas.takes[type];
        if (take) take(readObject(data), out);
      },
      end: (_frame, _data, response) => ({ kind: 'neutral', finishReason: deltas.finishReason(response) }),
    }),
  );
};

/** https://developers.openai.com/api/reference/resources/responses/streaming-events */
const announcements: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);
const endings: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
]);

/** BILL-9: a stream is good with an ending that carries usage, and with nothing else. */
const responsesReader = ({ told, names }: ResponsesStreamOptions, face: Face): StreamReader => {
  let isDone = false;
  let begun = false;
  let last: Extract<WireEvent, { readonly kind: 'end' }> | undefined;
  const finish = (frame: Frame, status: string): void => {
    const data = readObject(frame.data);
    if (!isJsonObject(data.response)) throw unreadable();
    const ending = face.end(frame, data, { status, ...data.response });
    last = { kind: 'end', ending, usage: toResponsesUsage(data.response.usage) };
  };
  return {
    take: (frame, out) => {
      const type = typeOf(frame);
      if (isFailure(type, frame)) throw toInBandResponsesError(readObject(frame.data), told, names);
      const status = endings.get(type);
      isDone = status !== undefined || frame.data === '[DONE]';
      if (status !== undefined) return finish(frame, status);
      if (isDone) return;
      if (!begun && announcements.has(type)) return face.announce(frame, out);
      begun = true;
      face.take(type, frame, out);
    },
    get isDone() {
      return isDone;
    },
    // Its usage comes with the last event, and nothing is read behind that.
    isWhole: false,
    end: () => {
      if (!last?.usage) throw incomplete();
      return last;
    },
  };
};

/** Some servers leave out the names of the events, which their data repeats. */
const typeOf = ({ event, data }: Frame): string => {
  if (event !== '') return event;
  const span = topLevelString(data, 'type');
  return span ? data.slice(span.start + 1, span.end - 1) : '';
};

const isFailure = (type: string, { data }: Frame): boolean =>
  type === 'error' || type === 'response.failed' || (type === '' && /"error"\s*:\s*\{/.test(data));

/** White space between the members of an object may be of any kind, so an event has one line of data. */
const renamed = ({ event, data, text }: Frame, body: JsonObject, modelId: string): string => {
  const ours = withResponseModel(data, body, modelId);
  if (ours === data) return text;
  const name = event === '' ? '' : `event: ${event}\n`;
  return `${name}data: ${ours.replaceAll('\n', ' ')}\n\n`;
};

const readObject = (data: string): JsonObject => {
  try {
    const value = parseJson(data);
    if (isJsonObject(value)) return value;
  } catch {}
  throw unreadable();
};
