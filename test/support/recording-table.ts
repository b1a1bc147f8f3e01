import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface TableReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Resets the connection instead of the reply, or after the headers and the body. */
  readonly cut?: 'before' | 'within';
  /** Sends nothing, or only the headers and the body, and keeps the connection open. */
  readonly stall?: 'before' | 'within';
}

export interface TableRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts an endpoint that records requests and sends the same reply to each. */
export const startRecordingTable = async () => {
  const requests: TableRequest[] = [];
  let connections = 0;
  let reply: TableReply = { status: 200, body: '{}' };
  const server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    requests.push({ method, path, headers, body: await text(request) });
    const { status, body, cut, stall } = reply;
    if (stall === 'before') return;
    if (cut === 'before') {
      request.socket.resetAndDestroy();
      return;
    }
    const isWhole = cut === undefined && stall === undefined;
    const length = Buffer.byteLength(body) + (isWhole ? 0 : 1);
    response.writeHead(status, { 'content-length': length, ...reply.headers });
    if (isWhole) response.end(body);
    else response.write(body, () => cut && request.socket.resetAndDestroy());
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    setReply: (next: TableReply): void => {
      reply = next;
    },
    /** Returns the requests since the last call. */
    takeRequests: (): readonly TableRequest[] => requests.splice(0),
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
