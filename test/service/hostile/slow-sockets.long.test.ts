import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until, within } from '../../support/gateway-process.ts';
import { paddedWithBlanks } from '../../support/hostile-bodies.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import { postRoutes } from '../../support/hostile-routes.ts';
import { ask, openWire, toBytes } from '../../support/hostile-wire.ts';

let gateway: HostileProcess;
beforeAll(async () => {
  gateway = await startHostileProcess();
});
afterAll(() => gateway.stop());

/** Time limit of the test. The gateway closes such connections after 15 s, so only a hang exceeds this limit. */
const CLOSED_WITHIN_MS = 180_000;

const post = (headers: readonly string[] = [], body: Buffer = Buffer.alloc(0)) => ({
  ...{ method: 'POST', target: '/v1/chat/completions', body },
  headers: [`authorization: Bearer ${gateway.apiKey}`, ...headers],
});

interface Drip {
  readonly socket: Socket;
  open(): boolean;
}

/** Sends the head, then one byte per second. */
const drip = async (head: Buffer): Promise<Drip> => {
  const socket = await openWire(gateway.port);
  let open = true;
  socket.resume().write(head);
  const timer = setInterval(() => socket.write(' '), 1_000);
  socket.once('close', () => {
    open = false;
    clearInterval(timer);
  });
  return { socket, open: () => open };
};

const allClosed = (drips: readonly Drip[]) =>
  until('the end of every slow connection', () => drips.every(({ open }) => !open()) || undefined, CLOSED_WITHIN_MS);

const served = async (): Promise<number> => (await ask(gateway.port, post([], paddedWithBlanks(500)), 30_000)).status;

test.concurrent('GEN-15 200 bodies at one byte per second are closed, and other requests are served', async () => {
  const before = await gateway.account();
  const head = toBytes(post(['content-length: 1000']));
  const drips = await Promise.all(Array.from({ length: 200 }, () => drip(head)));
  expect(await served()).toBe(200);
  // On a slow machine, the first connections may already be closed.
  expect(drips.some(({ open }) => open())).toBe(true);
  const spent = (await gateway.account()).balance;
  await allClosed(drips);
  expect(gateway.running()).toBe(true);
  expect(await gateway.account()).toMatchObject({ balance: spent, held: 0n, openHolds: 0 });
  expect(spent).toBeLessThan(before.balance);
});

test.concurrent('GEN-15 bodies at one byte per second are closed on every route', async () => {
  const heads = postRoutes.map(({ target, headers }) =>
    toBytes({ method: 'POST', target, headers: [...headers(gateway.apiKey), 'content-length: 1000'] }),
  );
  const drips = await Promise.all(heads.flatMap((head) => [drip(head), drip(head)]));
  await allClosed(drips);
  expect(gateway.running()).toBe(true);
});

test.concurrent('heads at one byte per second are closed', async () => {
  const drips = await Promise.all(Array.from({ length: 50 }, () => drip(Buffer.from('GET /health HTTP/1.1\r\nx: '))));
  await until('the end of every slow head', () => drips.every(({ open }) => !open()) || undefined, CLOSED_WITHIN_MS);
  expect((await ask(gateway.port, { target: '/health' })).status).toBe(200);
});

/** A client that never closes its side. Sends some bytes after the other side has ended, which no closed one accepts. */
const keepOpen = (start: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    let timer: NodeJS.Timeout | undefined;
    socket
      .on('error', () => undefined)
      .on('data', (bytes: Buffer) => {
        received += bytes.toString('latin1');
      });
    socket.once('connect', () => socket.write(start));
    socket.once('end', () => {
      timer = setInterval(() => socket.write(' '), 500);
    });
    socket.once('close', () => {
      clearInterval(timer);
      resolve(received);
    });
  });

test.concurrent('GEN-15 connections without complete headers are closed, whatever their client does', async () => {
  const starts = ['', 'GET /health HTTP/1.1\r\nx: ', 'no http\r\n\r\n'];
  const texts = await within('the end of every open side', Promise.all(starts.map(keepOpen)), CLOSED_WITHIN_MS);
  expect(texts.map((text) => text.slice(0, 12))).toEqual(['HTTP/1.1 408', 'HTTP/1.1 408', 'HTTP/1.1 400']);
  expect(texts[0]).toContain('The headers did not arrive within 15 s. Send the request again.');
});

test.concurrent('GEN-15 unexpected bodies are not read forever', async () => {
  const heads = [
    toBytes({ method: 'POST', target: '/nowhere', headers: ['content-length: 1000'], keepAlive: true }),
    toBytes({ method: 'GET', target: '/health', headers: ['content-length: 1000'], keepAlive: true }),
    toBytes({ method: 'POST', target: '/v1/chat/completions', headers: ['content-length: 1000'], keepAlive: true }),
  ];
  const drips = await Promise.all(heads.map(drip));
  await until('the end of every unread body', () => drips.every(({ open }) => !open()) || undefined, CLOSED_WITHIN_MS);
});
