import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A response that is written in parts. Writes after the gateway closed the connection are ignored. */
export interface VendorStream {
  /** Resolves when the system has accepted the text. Waits for a slow reader. */
  send(text: string): Promise<void>;
  /** Ends the HTTP response properly. */
  end(): void;
  /** Resets the connection. */
  reset(): void;
  /** Closes the connection within the HTTP response. */
  close(): void;
  /** Resolves when nothing more can be sent, whichever side ended the response. */
  readonly gone: Promise<unknown>;
}

export type Play = (stream: VendorStream) => Promise<void>;

export interface TaggedVendor {
  readonly url: string;
  readonly port: number;
  /** Sets the response to requests whose body has this tag, and resets their count. */
  plan(tag: string, play: Play): void;
  /** Number of requests with this tag. */
  calls(tag: string): number;
  /** Requests without a plan, and plans that failed. */
  readonly surprises: readonly string[];
  /** Number of open connections. */
  openSockets(): number;
  stop(): Promise<void>;
}

const tagIn = /\btag-\w+/;

/** Starts a simulated provider of every kind. A tag in the prompt selects the plan. */
export async function startTaggedVendor(): Promise<TaggedVendor> {
  const plays = new Map<string, Play>();
  const counts = new Map<string, number>();
  const surprises: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const [tag = ''] = tagIn.exec(body) ?? [];
    const play = plays.get(tag);
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
    if (!play) surprises.push(`${request.url} without a plan: ${body.slice(0, 200)}`);
    response.writeHead(play ? 200 : 500, { 'content-type': 'text/event-stream' }).flushHeaders();
    if (!play) response.end();
    else await play(toStream(response)).catch((error: unknown) => surprises.push(`${tag}: ${String(error)}`));
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server without a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    plan: (tag, play) => {
      plays.set(tag, play);
      counts.set(tag, 0);
    },
    calls: (tag) => counts.get(tag) ?? 0,
    surprises,
    openSockets: () => sockets.size,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const toStream = (response: ServerResponse): VendorStream => {
  const gone = once(response, 'close');
  response.on('error', () => undefined);
  return {
    send: async (text) => {
      if (text === '' || response.destroyed) return;
      const taken = new Promise<void>((resolve) => response.write(text, () => resolve()));
      await Promise.race([taken, gone]);
    },
    end: () => void response.end(),
    reset: () => void response.socket?.resetAndDestroy(),
    close: () => void response.destroy(),
    gone,
  };
};
