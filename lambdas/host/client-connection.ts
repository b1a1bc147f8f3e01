import type { ServerResponse } from 'node:http';
import type { Receiver } from './lambda-runtime.ts';
import { discardRest } from './request-body.ts';

/** A client that takes nothing for this long, with data waiting for it, is cut off. */
const STALLED_MS = 60_000;

/**
 * Writes to a client; an answer that was cut ends by breaking the connection. Once the client has left, everything is dropped,
 * and the handler goes on undisturbed.
 */
export const toReceiver = (response: ServerResponse, isCut: () => boolean): Receiver => ({
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
    if (isCut()) response.destroy();
    if (!response.destroyed) {
      const closes = !response.req.complete && !response.shouldKeepAlive;
      if (closes) closeGently(response);
      response.end();
      discardRest(response.req, () => {
        if (closes) response.req.socket.destroy();
      });
    }
    done();
  },
});

/**
 * Node closes a connection that is not to be kept as soon as the answer is out. With bytes of the request still coming in, that
 * resets it, and the client never sees the answer; so our side is closed first, and the rest when the request has ended.
 */
const closeGently = ({ req: { socket } }: ServerResponse): void => {
  socket.destroySoon = () => socket.end();
};

const whenDrained = (response: ServerResponse, done: () => void): void => {
  const timer = setTimeout(() => response.destroy(), STALLED_MS);
  const settle = (): void => {
    clearTimeout(timer);
    response.off('drain', settle).off('close', settle);
    done();
  };
  response.on('drain', settle).on('close', settle);
};
