import { createParser } from 'eventsource-parser';
import { GatewayError } from '../core/errors/gateway-error.ts';

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
      throw new GatewayError('upstream_error', 'The model sent an event that is too long. Nothing was charged.');
    }
  }
}

/** In the form that nearly all vendors send, so that what came in it goes on byte for byte. */
const toFrame = (event: string, data: string): Frame => {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return { text: event === '' ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`, event, data };
};
