import { connect, type Socket } from 'node:net';
import { within } from '../support/gateway-process.ts';

/** Opens a connection that sends exactly the given bytes, and reads only on request. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  await within(
    'a connection',
    new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject)),
  );
  return socket;
}

/** Reads everything until the other side closes. */
export function readToEnd(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  const done = new Promise<string>((resolve, reject) => {
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.once('end', () => resolve(Buffer.concat(pieces).toString('utf8'))).once('error', reject);
  });
  socket.resume();
  return within('the end of the connection', done);
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends one request unchanged. It should request that the connection is closed. */
export async function exchangeRaw(url: string, request: string): Promise<RawAnswer> {
  const socket = await openSocket(url);
  socket.write(request);
  const text = await readToEnd(socket);
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = rest.join('\r\n\r\n');
  return { status: Number(statusLine.split(' ')[1]), headers, body: unchunk(body, headers) };
}

function unchunk(body: string, headers: ReadonlyMap<string, string>): string {
  if (headers.get('transfer-encoding') !== 'chunked') return body;
  const [, ...parts] = body.split(/(?:^|\r\n)[0-9a-f]+\r\n/);
  return parts.join('').trimEnd();
}
