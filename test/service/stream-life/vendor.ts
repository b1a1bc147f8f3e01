import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One answer, written piece by piece. What is written after the gateway has gone is lost without a word. */
export interface VendorStream {
  /** Settles when the system has taken it; a reader that does not keep up is waited for. */
  send(text: string): Promise<void>;
  /** The proper end of an HTTP answer. */
  end(): void;
  /** The connection is reset. */
  reset(): void;
  /** The connection is closed in the middle of an HTTP answer. */
  close(): void;
  /** When nothing can be sent any more, whoever ended it. */
  readonly gone: Promise<unknown>;
}

export type Play = (stream: VendorStream) => Promise<void>;

export interface TaggedVendor {
  readonly url: string;
  readonly port: number;
  /** How the request whose body has this tag is answered. Counts from 0 again. */
  plan(tag: string, play: Play): void;
  /** How many requests had this tag. */
  calls(tag: string): number;
  /** Requests that no plan was there for, and plans that failed. */
  readonly surprises: readonly string[];
  /** Connections that are open now. */
  openSockets(): number;
  stop(): Promise<void>;
}

const tagIn = /\btag-\w+/;

/** All vendors at once: a tag in the prompt says which part is played. */
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
