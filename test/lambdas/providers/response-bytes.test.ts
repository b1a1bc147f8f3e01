import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { ResponseBytes } from '../../../lambdas/providers/response-bytes.ts';

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Returns both ends of a response whose head has arrived. */
const opened = async (): Promise<{ readonly sender: ServerResponse; readonly response: IncomingMessage }> => {
  const server = http.createServer();
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const taken = once(server, 'request');
  const sent = http.get({ host: '127.0.0.1', port: address.port });
  const [, sender] = (await taken) as [IncomingMessage, ServerResponse];
  sender.flushHeaders();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { sender, response };
};

const broken = new Error('broken');
const readerOf = (response: IncomingMessage) => new ResponseBytes(response, () => broken);

const textOf = async (bytes: ResponseBytes): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

test('CHAT-11 a reader gets the bytes of a response in order, up to its end', async () => {
  const { sender, response } = await opened();
  const text = textOf(readerOf(response));
  for (const word of ['a', 'é', 'c']) sender.write(word);
  sender.end();
  expect(await text).toBe('aéc');
});

test('CHAT-11 chunks that arrived together are one piece', async () => {
  const { response } = await opened();
  const bytes = readerOf(response);
  const first = bytes.next();
  for (const word of ['a', 'b', 'c']) response.emit('data', Buffer.from(word));
  expect(String((await first).value)).toBe('abc');
});

test('GEN-14 a response whose reader is slow is paused, and continues with the reader', async () => {
  const { sender, response } = await opened();
  const bytes = readerOf(response);
  const first = bytes.next();
  const word = 'x'.repeat(300_000);
  sender.end(word);
  await first;
  await expect.poll(() => response.isPaused()).toBe(true);
  expect((String((await first).value) + (await textOf(bytes))).length).toBe(word.length);
});

test('BILL-9 a connection that breaks fails the reader after the bytes that arrived', async () => {
  const { sender, response } = await opened();
  const bytes = readerOf(response);
  sender.write('a');
  expect(String((await bytes.next()).value)).toBe('a');
  sender.destroy();
  await expect(bytes.next()).rejects.toBe(broken);
  await expect(readerOf(response).next()).rejects.toBe(broken);
});

test('GEN-5 a reader that stops drops the rest and keeps the connection', async () => {
  const { sender, response } = await opened();
  const bytes = readerOf(response);
  sender.write('a');
  for await (const piece of bytes) {
    expect(String(piece)).toBe('a');
    break;
  }
  sender.write('b');
  await nextTurn();
  expect([response.destroyed, (await bytes.next()).done]).toEqual([false, true]);
});
