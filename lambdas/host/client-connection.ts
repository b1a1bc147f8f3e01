import type { ServerResponse } from 'node:http';
import { discardRest } from './body-source.ts';
import type { Receiver } from './lambda-runtime.ts';

/** A client that takes nothing for this long, with data waiting for it, is cut off. */
const STALLED_MS = 60_000;

/** Writes to a client. Once it has left, everything is dropped, and the handler goes on undisturbed. */
export const toReceiver = (response: ServerResponse): Receiver => ({
  head: ({ statusCode, headers }) => {
    if (response.destroyed) return;
    // Sent with the first bytes of the body, in one packet.
    response.writeHead(statusCode, headers);
  },
  write: (bytes, done) => {
    if (response.destroyed || response.write(bytes)) done();
    else whenDrained(response, done);
  },
  end: (done) => {
    if (!response.destroyed) {
      response.end();
      discardRest(response.req);
    }
    done();
  },
});

const whenDrained = (response: ServerResponse, done: () => void): void => {
  const timer = setTimeout(() => response.destroy(), STALLED_MS);
  const settle = (): void => {
    clearTimeout(timer);
    response.off('drain', settle).off('close', settle);
    done();
  };
  response.on('drain', settle).on('close', settle);
};
