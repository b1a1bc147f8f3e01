import { connect, type Socket } from 'node:net';
import { within } from './gateway-process.ts';
import { parseReplies, type Reply } from './hostile-wire.ts';

/** Client with its own connection and one request. */
export interface LivingClient {
  /** Local port of the connection. */
  readonly port: number;
  /** Resolves when these characters have arrived anywhere in the response. */
  saw(text: string): Promise<void>;
  /** Ends the connection by a reset or by closing it. Resolves when it is closed. */
  leave(how: 'resets' | 'closes'): Promise<void>;
  /** Starts to read if the client does not read yet. */
  read(): void;
  /** Complete response, or the received part of an incomplete one. */
  readonly end: Promise<Reply | { readonly brokenOff: string }>;
}

const BUFFER_BYTES = 4_096;

/**
 * Sends one request. With `reads` set to false, the client takes at most one buffer of 4 KiB until `read` is called.
 */
export async function openClient(port: number, request: Buffer, reads = true): Promise<LivingClient> {
  const pieces: string[] = [];
  const seen = new Map<string, () => void>();
  let reading = reads;
  const take = (bytes: Buffer): void => {
    pieces.push(bytes.toString('latin1'));
    if (seen.size === 0) return;
    const text = pieces.slice(-2).join('');
    for (const [wanted, found] of seen) if (text.includes(wanted)) found();
  };
  const callback = (size: number, buffer: Uint8Array): boolean => {
    take(Buffer.from(buffer.subarray(0, size)));
    return reading;
  };
  const onread = { buffer: Buffer.alloc(BUFFER_BYTES), callback };
  const socket = connect({ port, host: '127.0.0.1', ...(reads ? {} : { onread }) });
  const end = new Promise<Reply | { readonly brokenOff: string }>((resolve) => {
    socket.on('error', () => undefined).once('close', () => resolve(toReply(pieces.join(''))));
  });
  if (reads) socket.on('data', take);
  await within('a connection', new Promise<void>((resolve) => socket.once('connect', () => resolve())));
  const own = socket.localPort ?? 0;
  socket.write(request);
  return {
    port: own,
    saw: (text) => {
      if (pieces.join('').includes(text)) return Promise.resolve();
      return within(`${text} in ${own}`, new Promise<void>((resolve) => seen.set(text, resolve)));
    },
    leave: (how) => leave(socket, how),
    read: () => {
      reading = true;
      socket.resume();
    },
    end,
  };
}

const leave = (socket: Socket, how: 'resets' | 'closes'): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    socket.once('close', () => resolve());
    if (how === 'resets') socket.resetAndDestroy();
    else socket.destroy();
  });

const toReply = (text: string): Reply | { readonly brokenOff: string } => {
  try {
    const [reply] = parseReplies(Buffer.from(text, 'latin1'));
    return reply ?? { brokenOff: text };
  } catch {
    return { brokenOff: text };
  }
};
