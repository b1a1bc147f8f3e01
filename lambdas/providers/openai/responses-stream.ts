import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { Ending, WireEvent } from '../../core/text/text-wire.ts';
import type { Frame } from '../read-stream.ts';
import { readStream, type StreamReader, type WireBatch } from '../read-stream.ts';
import { incomplete, type RefusalContext, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import { withResponseModel } from './renamed-model.ts';
import { createDeltas } from './responses-deltas.ts';
import { type FieldNames, toInBandResponsesError } from './responses-errors.ts';
import { toResponsesUsage } from './responses-usage.ts';

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
