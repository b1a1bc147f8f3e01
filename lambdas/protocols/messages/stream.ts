import { toErrorBody } from '../../http/render-error.ts';
import type { StreamContext, StreamFace } from '../text-face.ts';

export const foreign = (): Error => new Error('an answer of another protocol on /v1/messages');

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
