import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface VendorServer {
  readonly url: string;
  /** One socket for each connection that was made. */
  readonly sockets: readonly Socket[];
  readonly requests: readonly { readonly method: string; readonly path: string; readonly body: string }[];
  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<void>;
  stop(): Promise<void>;
}

type Play = (request: IncomingMessage, response: ServerResponse) => void;

/** Simulated provider on 127.0.0.1 with one behavior. */
export const startVendor = async (play: Play): Promise<VendorServer> => {
  const sockets: Socket[] = [];
  const requests: { method: string; path: string; body: string }[] = [];
  const arrivals = new EventTarget();
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      requests.push({
        method: request.method ?? '',
        path: request.url ?? '',
        body: Buffer.concat(pieces).toString(),
      });
      play(request, response);
      arrivals.dispatchEvent(new Event('arrival'));
    });
  });
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    sockets,
    requests,
    received: async (count) => {
      while (requests.length < count) await once(arrivals, 'arrival');
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Port on which no server listens. */
export const closedPort = async (): Promise<number> => {
  const vendor = await startVendor(() => undefined);
  await vendor.stop();
  return Number(new URL(vendor.url).port);
};
