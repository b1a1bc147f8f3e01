import net from 'node:net';

/**
 * Connects a client that sends the given bytes unchanged and collects what it receives. With `allowHalfOpen` it never
 * closes its side.
 */
export const connectTo = async (port: number, options: { allowHalfOpen?: boolean; localAddress?: string } = {}) => {
  const socket = net.connect({ port, host: '127.0.0.1', ...options });
  let received = '';
  const state = { closed: false };
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    state.closed = true;
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return {
    socket,
    send: (text: string | Uint8Array) => socket.write(text),
    text: () => received,
    isClosed: () => state.closed,
  };
};

export const request = (head: readonly string[], body = ''): string => `${[...head, '', ''].join('\r\n')}${body}`;
