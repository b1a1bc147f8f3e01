import type { ServerResponse } from 'node:http';
import type { Receiver } from './lambda-runtime.ts';
import { discardRest } from './request-body.ts';

/** Time in ms without progress after which a client with waiting data is disconnected. */
const STALLED_MS = 60_000;

/**
 * Writes to a client. A response that was cut ends with a broken connection. After the client has left, data is dropped
 * and the handler continues.
 */
export const toReceiver = (response: ServerResponse, isCut: () => boolean): Receiver => ({
  head: ({ statusCode, headers }) => {
    if (response.destroyed) return;
    // Node removes the connection abruptly after a response with this header, unless `end` closes it gently.
    if (headers?.connection === 'close') response.shouldKeepAlive = false;
    // https://www.rfc-editor.org/rfc/rfc9110#section-15.5.22 requires the protocol. On AWS the front door owns these headers.
    if (statusCode === 426) {
      // With this header, Node closes the connection only if the header says so.
      const connection = response.shouldKeepAlive ? 'Upgrade' : 'close, Upgrade';
      response.setHeader('connection', connection).setHeader('upgrade', 'HTTP/1.1');
    }
    // Sent with the first bytes of the body, in one packet.
    response.writeHead(statusCode, headers);
  },
  write: (data, done) => {
    if (response.destroyed || response.write(data)) done();
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
 * Closes the sending side first, and the rest after the request has ended. Node closes a connection without keep-alive
 * right after the response. If request bytes are still arriving, that resets the connection and the client never sees
 * the response.
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
