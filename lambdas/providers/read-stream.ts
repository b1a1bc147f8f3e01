import { createParser } from 'eventsource-parser';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { TextDelta, WireEvent } from '../core/text/text-wire.ts';

/** How one vendor protocol is read, event by event. */
export interface StreamReader {
  /** Puts what the event gives into `out`. Throws the GatewayError of an event that is an error. */
  take(frame: Frame, out: WireBatch): void;
  /** The vendor has ended its answer: what may follow is not read. */
  readonly isDone: boolean;
  /** The final usage is here: a broken connection takes nothing away from the answer any more (BILL-9). */
  readonly isWhole: boolean;
  /** How it ended. Throws GatewayError when it is not complete (BILL-9, BILL-10). */
  end(): Extract<WireEvent, { readonly kind: 'end' }>;
  /** What has to be done before a good end is told. Throws GatewayError. */
  ready?(): Promise<void>;
}

/** What the events of one piece of network data give; they go on together. */
export class WireBatch {
  #ready: WireEvent[] = [];
  #native: string[] = [];
  #neutral: TextDelta[] = [];

  /** An event in the client's protocol; `opening`: the answer has only been announced. */
  native(event: string, announcement = false): void {
    if (announcement) this.#ready.push({ kind: 'native', events: [event], announcement });
    else this.#native.push(event);
  }

  /** A piece of the answer in the core's own terms. */
  neutral(delta: TextDelta): void {
    this.#neutral.push(delta);
  }

  /** The answer has been announced, and the client's protocol has no word for that by itself. */
  announce(): void {
    this.#ready.push({ kind: 'neutral', deltas: [], announcement: true });
  }

  /** Opening events come before all others of a stream, and only one of the other two kinds occurs in it. */
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

/** Reads a vendor's event stream to its end. What came before an error is the client's. */
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

/** One event: as it is sent on, its name ('' without one) and its data. */
export interface Frame {
  readonly text: string;
  readonly event: string;
  readonly data: string;
}

/**
 * In UTF-16 units. Some vendors repeat the instructions and the tools of a request in an event, escaped to three times their length: what
 * a client may send has to be readable again.
 */
export const frameLengthMax = 64 * 1024 * 1024;

/**
 * The events of a vendor's stream, one array per piece of network data that completes at least one. Errors of `body` pass through.
 * What is incomplete at the end is no event: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export async function* framesOf(
  body: AsyncIterable<Uint8Array>,
  lengthMax = frameLengthMax,
): AsyncGenerator<readonly Frame[], void> {
  // Its own removal of byte order marks takes away two of them when the first one is cut between pieces.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let frames: Frame[] = [];
  const parser = createParser({ onEvent: ({ event = '', data }) => frames.push(toFrame(event, data)) });
  /** Since the last event, comments included: the parser keeps slices of all of it. */
  let pendingLength = 0;
  for await (const bytes of body) {
    const piece = decoder.decode(bytes, { stream: true });
    parser.feed(piece);
    pendingLength = frames.length > 0 ? 0 : pendingLength + piece.length;
    if (frames.length > 0) {
      const complete = frames;
      frames = [];
      yield complete;
    }
    if (pendingLength > lengthMax) {
      throw new GatewayError('upstream_error', 'The provider sent an event that is too long. Nothing was charged.');
    }
  }
}

/** In the form that nearly all vendors send, so that what came in it goes on byte for byte. */
const toFrame = (event: string, data: string): Frame => {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return { text: event === '' ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`, event, data };
};
