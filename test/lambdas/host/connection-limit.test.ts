import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { limitConnections } from '../../../lambdas/host/connection-limit.ts';
import { connectTo } from './raw-client.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** A server that sends one character to each connection that stays. */
const serverWith = async (isExempt: (address: string) => boolean = () => false): Promise<number> => {
  server = createServer((socket) => socket.on('error', () => undefined).write('x'));
  limitConnections(server, { perAddress: 2, isExempt });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
};

/** Connects, and returns whether the connection stays open. */
const open = async (port: number, localAddress: string) => {
  const client = await connectTo(port, { localAddress });
  await expect.poll(() => client.isClosed() || client.text() !== '').toBe(true);
  return { isOpen: !client.isClosed(), end: () => client.socket.destroy() };
};

test('LIM-9 a connection above the limit of its IP address is closed, and others stay', async () => {
  const port = await serverWith();
  const clients: Awaited<ReturnType<typeof open>>[] = [];
  for (const address of ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.3']) clients.push(await open(port, address));
  expect(clients.map(({ isOpen }) => isOpen)).toEqual([true, true, false, true]);
  for (const { end } of clients) end();
});

test('LIM-9 a connection that ends makes room for one more', async () => {
  const port = await serverWith();
  const [first, second] = [await open(port, '127.0.0.2'), await open(port, '127.0.0.2')];
  for (let turn = 0; turn < 3; turn += 1) expect((await open(port, '127.0.0.2')).isOpen).toBe(false);
  first.end();
  // The server sees the end of the first one a moment later.
  await vi.waitFor(async () => expect((await open(port, '127.0.0.2')).isOpen).toBe(true));
  expect((await open(port, '127.0.0.2')).isOpen).toBe(false);
  second.end();
});

test('LIM-9 an exempt IP address has no limit', async () => {
  const port = await serverWith((address) => address === '127.0.0.2');
  const clients: Awaited<ReturnType<typeof open>>[] = [];
  for (let turn = 0; turn < 5; turn += 1) clients.push(await open(port, '127.0.0.2'));
  expect(clients.every(({ isOpen }) => isOpen)).toBe(true);
  for (const { end } of clients) end();
});
