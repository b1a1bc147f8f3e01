import { toErrorBody } from '../../http/render-error.ts';
import type { StreamContext, StreamFace } from '../text-face.ts';

export const foreign = (): Error => new Error('an answer of another protocol on /v1/messages');

/** What the vendor itself sends to keep a connection; it may stand anywhere, before the first event as well. */
export const PING = 'event: ping\ndata: {"type": "ping"}\n\n';

/** The vendor's events, byte for byte (MSG-1); an error is an event of its name (GEN-3) and nothing follows it. */
export const messagesStream = ({ requestId, write }: StreamContext): StreamFace => ({
  native: (events) => write(events.join('')),
  neutral: () => {
    throw foreign();
  },
  finish: (ending) => {
    if (ending.kind !== 'native') throw foreign();
    write(ending.events.join(''));
  },
  fail: (error) => write(`event: error\ndata: ${JSON.stringify(toErrorBody(error, 'messages', requestId))}\n\n`),
});
