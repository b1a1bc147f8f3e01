import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { Ending, FinishReason, WireEvent } from '../../core/text/text-wire.ts';
import { mergeUsage } from '../merge-usage.ts';
import type { Frame, StreamReader, WireBatch } from '../read-stream.ts';
import { incomplete, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import { toInBandResponsesError } from './errors.ts';
import { withResponseModel } from './renamed-model.ts';
import { finishReasonOf, type Reading, stringIn, toResponsesUsage, toToolCall } from './responses-answer.ts';
import { phaseOf, SpokenText } from './spoken-text.ts';

type Take = (event: JsonObject, out: WireBatch) => void;

interface OpenCall {
  /** Index among the calls of the response. */
  readonly index: number;
  /** Length of the arguments that were sent so far, in UTF-16 units. */
  sent: number;
}

interface Deltas {
  /** Handlers by event type. Events of other types have nothing that a chat completion shows. */
  readonly takes: Readonly<Partial<Record<string, Take>>>;
  /** Sends the text that still waits, and returns the finish reason. */
  readonly finish: (response: JsonObject, usage: TokenUsage | undefined, out: WireBatch) => FinishReason;
}

/** Converts the events of one streamed response to the core's terms. */
export const createDeltas = (): Deltas => {
  /** By index among all output items, including reasoning and messages. */
  const calls = new Map<JsonValue | undefined, OpenCall>();
  /** Output items of type message, by index. */
  const messages = new Map<JsonValue | undefined, JsonObject>();
  const spoken = new SpokenText();
  let hasText = false;

  const say = (kind: 'text' | 'refusal', text: string, out: WireBatch): void => {
    if (text === '') return;
    hasText = true;
    out.neutral({ kind, text });
  };

  const send = (call: OpenCall, text: string, out: WireBatch): void => {
    if (text === '') return;
    call.sent += text.length;
    out.neutral({ kind: 'tool_arguments', index: call.index, text });
  };

  /**
   * Handles the start and the end of an output item. Both events contain all arguments known so far, so only the part
   * that has not been sent is added.
   */
  const takeItem: Take = ({ item, output_index: place }, out) => {
    if (!isJsonObject(item)) return;
    if (item.type === 'message') messages.set(place, item);
    if (item.type !== 'function_call') return;
    say('text', spoken.take(), out);
    const { id, name, arguments: text } = toToolCall(item);
    const call = calls.get(place) ?? { index: calls.size, sent: 0 };
    if (!calls.has(place)) out.neutral({ kind: 'tool_call', index: call.index, id, name });
    calls.set(place, call);
    send(call, text.slice(call.sent), out);
  };

  return {
    takes: {
      'response.output_text.delta': ({ delta, output_index: place }, out) =>
        say('text', spoken.add(place, phaseOf(messages.get(place) ?? {}), stringIn(delta)), out),
      'response.refusal.delta': ({ delta }, out) => say('refusal', stringIn(delta), out),
      'response.output_item.added': takeItem,
      'response.output_item.done': takeItem,
      'response.function_call_arguments.delta': ({ delta, output_index: place }, out) => {
        const call = calls.get(place);
        if (!call) throw unreadable();
        send(call, stringIn(delta), out);
      },
    },
    finish: (response, usage, out) => {
      const reason = finishReasonOf(response, { calls: calls.size > 0, content: hasText || calls.size > 0, usage });
      say('text', spoken.take(), out);
      return reason;
    },
  };
};

/** Last event of a response: its data, its response object, and the usage. */
interface Ended {
  readonly frame: Frame;
  readonly data: JsonObject;
  readonly response: JsonObject;
  readonly usage: TokenUsage | undefined;
}

/** Converts the events of a response for one kind of client. The caller handles failures. */
interface Face {
  /** Handles events that only announce a response. They come before all others. */
  announce(frame: Frame, out: WireBatch): void;
  take(type: string, frame: Frame, out: WireBatch): void;
  end(ended: Ended, out: WireBatch): Ending;
}

/** Passes on events unchanged, except that the model's id is replaced. */
export const nativeReader = (reading: Reading, modelId: string): StreamReader =>
  responsesReader(reading, {
    announce: (frame, out) => out.native(renamed(frame, readObject(frame.data), modelId), true),
    take: (type, frame, out) =>
      out.native(announcements.has(type) ? renamed(frame, readObject(frame.data), modelId) : frame.text),
    end: ({ frame, data }) => ({ kind: 'native', events: [renamed(frame, data, modelId)] }),
  });

/** Passes on events in the core's terms. */
export const neutralReader = (reading: Reading): StreamReader => {
  const deltas = createDeltas();
  return responsesReader(reading, {
    announce: (_frame, out) => out.announce(),
    take: (type, { data }, out) => {
      const take = deltas.takes[type];
      if (take) take(readObject(data), out);
    },
    end: ({ response, usage }, out) => ({ kind: 'neutral', finishReason: deltas.finish(response, usage, out) }),
  });
};

/** Source: https://developers.openai.com/api/reference/resources/responses/streaming-events */
const announcements: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);
const endings: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
]);

/** BILL-9: a stream is complete only with an ending event that has the usage. */
const responsesReader = ({ refusalContext, names, reasoningTokens }: Reading, face: Face): StreamReader => {
  let isDone = false;
  let begun = false;
  let reported: JsonObject = {};
  let last: Extract<WireEvent, { readonly kind: 'end' }> | undefined;
  const usageSoFar = () => toResponsesUsage(reported, reasoningTokens);
  /** Returns the usage of the event alone. */
  const takeUsage = ({ response }: JsonObject): TokenUsage | undefined => {
    const usage = isJsonObject(response) ? response.usage : undefined;
    if (isJsonObject(usage)) reported = mergeUsage(reported, usage);
    return toResponsesUsage(usage, reasoningTokens);
  };
  const finish = (frame: Frame, status: string, out: WireBatch): void => {
    const data = readObject(frame.data);
    if (!isJsonObject(data.response)) throw unreadable();
    const usage = takeUsage(data) && usageSoFar();
    const ending = face.end({ frame, data, response: { status, ...data.response }, usage }, out);
    last = { kind: 'end', ending, usage };
  };
  const fail = (frame: Frame): never => {
    const data = readObject(frame.data);
    takeUsage(data);
    throw toInBandResponsesError(data, refusalContext, names);
  };
  return {
    take: (frame, out) => {
      const type = typeOf(frame);
      if (isFailure(type, frame)) return fail(frame);
      const status = endings.get(type);
      isDone = status !== undefined || frame.data === '[DONE]';
      if (status !== undefined) return finish(frame, status, out);
      if (isDone) return;
      if (announcements.has(type) && hasUsage.test(frame.data)) takeUsage(readObject(frame.data));
      if (!begun && announcements.has(type)) return face.announce(frame, out);
      begun = true;
      face.take(type, frame, out);
    },
    get isDone() {
      return isDone;
    },
    // The usage arrives with the last event, and nothing is read after that.
    isWhole: false,
    get usageSoFar() {
      return usageSoFar();
    },
    end: () => {
      if (!last?.usage) throw incomplete();
      return last;
    },
  };
};

/** An announcement can repeat the whole request, so it is parsed only if it has a usage. */
const hasUsage = /"usage"\s*:\s*\{/;

/** Type of an event. Some servers omit the event name, which the data repeats. */
const typeOf = ({ event, data }: Frame): string => {
  if (event !== '') return event;
  const span = topLevelString(data, 'type');
  return span ? data.slice(span.start + 1, span.end - 1) : '';
};

const isFailure = (type: string, { data }: Frame): boolean =>
  type === 'error' || type === 'response.failed' || (type === '' && /"error"\s*:\s*\{/.test(data));

/** Writes the data on one line, because the white space between members may contain line breaks. */
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
