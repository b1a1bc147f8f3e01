import { createParser } from 'eventsource-parser';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { TokenUsage } from '../core/pricing/charge.ts';
import type { TextDelta, WireEvent, WireStream } from '../core/text/text-wire.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** Reads one provider protocol, event by event. */
export interface StreamReader {
  /** Adds the result of the event to `out`. Throws GatewayError for an error event. */
  take(frame: Frame, out: WireBatch): void;
  /** Whether the provider has ended its response. Later events are not read. */
  readonly isDone: boolean;
  /** Whether the final usage has arrived. A broken connection then no longer affects the response (BILL-9). */
  readonly isWhole: boolean;
  /** Usage that the provider has reported so far, merged over all its reports. */
  readonly usageSoFar: TokenUsage | undefined;
  /** Returns how the response ended. Throws GatewayError if it is incomplete (BILL-9, BILL-10). */
  end(): Extract<WireEvent, { readonly kind: 'end' }>;
  /** Last step before a successful end is reported. Throws GatewayError. */
  ready?(): Promise<void>;
}

/** Results of the events in one piece of network data. They are passed on together. */
export class WireBatch {
  #ready: WireEvent[] = [];
  #native: string[] = [];
  #neutral: TextDelta[] = [];

  /** Adds an event in the client's protocol. `announcement`: the response has only been announced. */
  native(event: string, announcement = false): void {
    if (announcement) this.#ready.push({ kind: 'native', events: [event], announcement });
    else this.#native.push(event);
  }

  /** Adds a piece of the response in the core's terms. */
  neutral(delta: TextDelta): void {
    this.#neutral.push(delta);
  }

  /** Reports that the response has been announced, for client protocols without such an event. */
  announce(): void {
    this.#ready.push({ kind: 'neutral', deltas: [], announcement: true });
  }

  /**
   * Returns and clears the collected events. Announcements precede all other events of a stream. The other events of a
   * stream are either all native or all neutral.
   */
  flush(): readonly WireEvent[] {
    const events = this.#ready;
    if (this.#native.length > 0) events.push({ kind: 'native', events: this.#native });
    if (this.#neutral.length > 0) events.push({ kind: 'neutral', deltas: this.#neutral });
    this.#ready = [];
    this.#native = [];
    this.#neutral = [];
    return events;
  }
}

export const toWireStream = ({ body, discard }: UpstreamResponse, reader: StreamReader): WireStream => ({
  kind: 'stream',
  events: readStream(body, reader),
  close: discard,
  usageSoFar: () => reader.usageSoFar,
});

/** Reads a provider's event stream to its end. Yields the events that arrived before an error. */
export async function* readStream(
  body: AsyncIterable<Uint8Array>,
  reader: StreamReader,
): AsyncGenerator<WireEvent, void> {
  const batch = new WireBatch();
  for await (const frames of framesOf(untilBroken(body, reader))) {
    let failure: { readonly error: unknown } | undefined;
    try {
      for (const frame of frames) {
        if (reader.isDone) break;
        reader.take(frame, batch);
      }
    } catch (error) {
      failure = { error };
    }
    yield* batch.flush();
    if (failure) throw failure.error;
    if (reader.isDone) break;
  }
  const end = reader.end();
  await reader.ready?.();
  yield end;
}

async function* untilBroken(body: AsyncIterable<Uint8Array>, reader: StreamReader): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } catch (error) {
    if (!reader.isWhole) throw error;
  }
}

/** One event: the text to pass on, its name ('' without one) and its data. */
export interface Frame {
  readonly text: string;
  readonly event: string;
  readonly data: string;
}

/**
 * Limit in UTF-16 units. Some providers repeat the instructions and tools of a request in an event, escaped to three
 * times their length. All that a client can send must fit.
 */
export const frameLengthMax = 64 * 1024 * 1024;

/**
 * Splits a provider's stream into events with data. Yields one array per piece of network data that completes any.
 * Passes on errors of `body`. An incomplete event at the end is dropped:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export async function* framesOf(
  body: AsyncIterable<Uint8Array>,
  lengthMax = frameLengthMax,
): AsyncGenerator<readonly Frame[], void> {
  // The decoder's own removal of byte order marks would remove two of them if the first is split between pieces.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let frames: Frame[] = [];
  /** Length since the last event, including comments, because the parser keeps slices of all of it. */
  let pendingLength = 0;
  let hasEvent = false;
  const parser = createParser({
    onEvent: ({ event = '', data }) => {
      hasEvent = true;
      // Servers send events without data as heartbeats: https://github.com/openai/openai-python/issues/3833
      if (data.trim() !== '') frames.push(toFrame(event, data));
    },
  });
  for await (const bytes of body) {
    const piece = decoder.decode(bytes, { stream: true });
    hasEvent = false;
    parser.feed(piece);
    pendingLength = hasEvent ? 0 : pendingLength + piece.length;
    if (frames.length > 0) {
      const complete = frames;
      frames = [];
      yield complete;
    }
    if (pendingLength > lengthMax) {
      throw new GatewayError(
        'upstream_error',
        'The provider sent an event that is too long. Nothing was charged. Retry the request.',
      );
    }
  }
}

/** Writes an event in the form that nearly all providers use, so that such events are passed on byte for byte. */
const toFrame = (event: string, data: string): Frame => {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return { text: event === '' ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`, event, data };
};
