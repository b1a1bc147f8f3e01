import { connect, type Socket } from 'node:net';

/** Time limit of a reply in ms. Anything longer is a hang, even on a busy machine. */
export const HANG_MS = 30_000;

export interface Reply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface WireRequest {
  readonly method?: string;
  readonly target?: string;
  /** Raw header lines without line ends. `host` is added, and so is `connection: close` unless `keepAlive` is set. */
  readonly headers?: readonly string[];
  readonly body?: Uint8Array | string;
  readonly keepAlive?: boolean;
  /** Loopback address of the client. Every 127.x.y.z is valid. */
  readonly from?: string;
}

/** Returns the bytes of one request. Adds a content length if there is a body and no header sets its framing. */
export const toBytes = ({ method = 'GET', target = '/', headers = [], body = '', keepAlive }: WireRequest): Buffer => {
  const bytes = Buffer.from(body);
  const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const length = framed || (bytes.length === 0 && method === 'GET') ? [] : [`content-length: ${bytes.length}`];
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: gateway.test',
    ...(keepAlive ? [] : ['connection: close']),
    ...headers,
    ...length,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
};

export const openWire = (port: number, from?: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ...(from ? { localAddress: from } : {}) });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
  });

/** Returns everything that the server sends until it closes. Rejects if it does not close in time. */
export const readWire = (socket: Socket, limitMs = HANG_MS): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end within ${limitMs} ms after ${Buffer.concat(pieces).toString('latin1').slice(0, 200)}`));
    }, limitMs);
    socket.on('data', (piece: Buffer) => pieces.push(piece));
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(pieces));
    });
  });

/** Returns the first complete reply of a connection that may stay open. Rejects if the connection ends before. */
export const readReply = (socket: Socket, limitMs = HANG_MS): Promise<Reply> =>
  new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const timer = setTimeout(() => reject(new Error(`no reply within ${limitMs} ms`)), limitMs);
    const settle = (): void => {
      const [reply] = wholeReplies(read);
      if (reply) resolve(reply);
      else if (socket.destroyed) reject(new Error('the connection ended without a whole reply'));
      if (reply || socket.destroyed) clearTimeout(timer);
    };
    socket.on('data', (piece: Buffer) => {
      read = Buffer.concat([read, piece]);
      settle();
    });
    socket.once('close', settle);
    socket.resume();
  });

const wholeReplies = (bytes: Buffer): readonly Reply[] => {
  try {
    return parseReplies(bytes);
  } catch {
    return [];
  }
};

/** Sends one request or raw bytes, and returns all replies. */
export const exchange = async (
  port: number,
  request: WireRequest | Buffer,
  limitMs = HANG_MS,
): Promise<readonly Reply[]> => {
  const bytes = Buffer.isBuffer(request) ? request : toBytes(request);
  const socket = await openWire(port, Buffer.isBuffer(request) ? undefined : request.from);
  const read = readWire(socket, limitMs);
  socket.write(bytes);
  return parseReplies(await read, bytes.subarray(0, 5).toString() === 'HEAD ');
};

/** Returns the only reply to one request. */
export const ask = async (port: number, request: WireRequest, limitMs = HANG_MS): Promise<Reply> => {
  const replies = await exchange(port, request, limitMs);
  const [reply] = replies;
  if (!reply || replies.length > 1) throw new Error(`${replies.length} replies to one request`);
  return reply;
};

export const parseReplies = (bytes: Buffer, toHead = false): readonly Reply[] => {
  const replies: Reply[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no end of the headers: ${rest.toString('latin1').slice(0, 200)}`);
    const { status, headers } = parseHead(rest.subarray(0, end).toString('latin1'));
    const { body, after } = takeBody(rest.subarray(end + 4), headers, toHead || status < 200 || status === 204);
    if (status >= 200) replies.push({ status, headers, body: body.toString('utf8') });
    rest = after;
  }
  return replies;
};

const parseHead = (text: string): Omit<Reply, 'body'> => {
  const [first = '', ...lines] = text.split('\r\n');
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(first) ?? [];
  if (!status) throw new Error(`no status line: ${first.slice(0, 200)}`);
  const pairs = lines.map(
    (line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.replace(/^[^:]*: */, '')] as const,
  );
  return { status: Number(status), headers: new Map(pairs) };
};

interface Taken {
  readonly body: Buffer;
  readonly after: Buffer;
}

const takeBody = (bytes: Buffer, headers: Reply['headers'], none: boolean): Taken => {
  if (none) return { body: Buffer.alloc(0), after: bytes };
  if (headers.get('transfer-encoding') === 'chunked') return takeChunks(bytes);
  const length = Number(headers.get('content-length') ?? bytes.length);
  if (bytes.length < length) throw new Error('the reply is shorter than its content length');
  return { body: bytes.subarray(0, length), after: bytes.subarray(length) };
};

const takeChunks = (bytes: Buffer): Taken => {
  const pieces: Buffer[] = [];
  let rest = bytes;
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.subarray(0, line).toString('latin1'), 16);
    if (line < 0 || Number.isNaN(size)) throw new Error('the reply ends inside a chunk');
    const next = rest.subarray(line + 2 + size + 2);
    if (size === 0) return { body: Buffer.concat(pieces), after: next };
    pieces.push(rest.subarray(line + 2, line + 2 + size));
    rest = next;
  }
};
