import { connect, type Socket } from 'node:net';
import { within } from './gateway-process.ts';
import { parseReplies, type Reply } from './hostile-wire.ts';

/** One request over a connection of its own. */
export interface LivingClient {
  /** Of its own end of the connection. */
  readonly port: number;
  /** When these bytes have arrived somewhere in the answer. */
  saw(text: string): Promise<void>;
  /** The connection ends here, by a reset or by closing it; settles once it is gone. */
  leave(how: 'resets' | 'closes'): Promise<void>;
  /** Reads from now on, if it did not. */
  read(): void;
  /** The whole answer, or what there was of one that broke off. */
  readonly end: Promise<Reply | { readonly brokenOff: string }>;
}

const BUFFER_BYTES = 4_096;

/** `reads` of false: nothing more than one buffer of 4 KiB is ever taken, until told. */
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
