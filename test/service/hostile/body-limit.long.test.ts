import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { chunked, paddedWithBlanks, withImage } from '../../support/hostile-bodies.ts';
import { judge, readError } from '../../support/hostile-oracle.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import { type PostRoute, postRoutes, speech, videos } from '../../support/hostile-routes.ts';
import { ask, exchange, openWire, parseReplies, readReply, readWire, toBytes } from '../../support/hostile-wire.ts';

let gateway: HostileProcess;
beforeAll(async () => {
  gateway = await startHostileProcess();
});
afterAll(() => gateway.stop());

/** 20 MiB take time on a busy machine. Only a hang exceeds this limit. */
const LIMIT_MS = 30_000;

const post = (body: Buffer, headers: readonly string[] = []) => ({
  ...{ method: 'POST', target: '/v1/chat/completions', body },
  headers: [`authorization: Bearer ${gateway.apiKey}`, ...headers],
});

const free = async () => {
  const { held, openHolds } = await gateway.account();
  return [held, openHolds];
};

test('GEN-1 20,971,520 bytes, mostly an image, are served', async () => {
  expect(await ask(gateway.port, post(withImage(BODY_BYTES_MAX)), LIMIT_MS)).toMatchObject({ status: 200 });
  expect(gateway.vendor.requests.at(-1)?.bytes.length).toBeGreaterThan(0.95 * BODY_BYTES_MAX);
});

test('GEN-1 one more byte in one chunk is 413', async () => {
  const body = chunked(paddedWithBlanks(BODY_BYTES_MAX + 1), BODY_BYTES_MAX + 1);
  const socket = await openWire(gateway.port);
  const reading = readReply(socket, LIMIT_MS);
  socket.write(toBytes({ ...post(body, ['transfer-encoding: chunked']), keepAlive: true }));
  const reply = await reading;
  socket.destroy();
  expect([reply.status, readError(reply).code]).toEqual([413, 'payload_too_large']);
});

/** Routes that work on the real date: the speech model retires. */
const lasting = postRoutes.filter((route) => route !== speech);
const ofProtocols = lasting.flatMap((route) =>
  ([false, true] as const).map(
    (inChunks) => [inChunks ? 'in chunks' : 'with their length', route.name, route, inChunks] as const,
  ),
);

/** Body of 20 MiB plus `more` bytes, for any route. */
const filled = (route: PostRoute, more: number, inChunks: boolean) => {
  const body = paddedWithBlanks(BODY_BYTES_MAX + more, route.body('hi'));
  // A dry run, because a video would be created and charged during the test.
  const dry = route === videos ? ['x-service-dry-run: true'] : [];
  return {
    ...{ method: 'POST', target: route.target, body: inChunks ? chunked(body) : body },
    headers: [...route.headers(gateway.apiKey), ...dry, ...(inChunks ? ['transfer-encoding: chunked'] : [])],
  };
};

test.each(ofProtocols)(
  'GEN-1 20,971,520 bytes %s are served at %s, and one more is 413',
  async (_what, _name, route, inChunks) => {
    expect(await ask(gateway.port, filled(route, 0, inChunks), LIMIT_MS)).toMatchObject({ status: 200 });
    const before = await gateway.account();
    const calls = gateway.vendor.requests.length;
    const socket = await openWire(gateway.port);
    const reading = readReply(socket, LIMIT_MS);
    socket.write(toBytes({ ...filled(route, 1, inChunks), keepAlive: true }));
    const reply = await reading;
    socket.destroy();
    judge(reply, route.shape);
    expect([reply.status, readError(reply, route.shape).code]).toEqual([413, 'payload_too_large']);
    expect(await gateway.account()).toEqual(before);
    expect(gateway.vendor.requests.length).toBe(calls);
  },
);

test.each([
  ['kept', true],
  ['to be closed', false],
] as const)(
  'GEN-1 a client reads its 413 after sending a whole large body, on a connection %s',
  async (_, keepAlive) => {
    const socket = await openWire(gateway.port);
    socket.pause();
    const bytes = toBytes({ ...post(Buffer.alloc(BODY_BYTES_MAX * 2, ' ')), keepAlive });
    const sent = new Promise<string>((resolve) =>
      socket.write(bytes, (error) => resolve(error ? error.message : 'all of it')),
    );
    expect(await sent).toBe('all of it');
    const reply = await readReply(socket, LIMIT_MS);
    socket.destroy();
    expect([reply.status, readError(reply).code]).toEqual([413, 'payload_too_large']);
  },
);

test('GEN-1 bytes beyond a Content-Length are not part of the body', async () => {
  const before = await gateway.account();
  const body = paddedWithBlanks(2_000);
  const keepAlive = toBytes(post(body, ['content-length: 1000']))
    .toString('latin1')
    .replace('connection: close\r\n', '');
  const replies = await exchange(gateway.port, Buffer.from(keepAlive, 'latin1'));
  expect(replies.length).toBeGreaterThan(0);
  for (const reply of replies) {
    judge(reply);
    expect(reply.status).toBe(400);
  }
  expect(await gateway.account()).toEqual(before);
});

test.each([
  ['closes its side', (socket: Awaited<ReturnType<typeof openWire>>) => void socket.end()],
  ['breaks the connection off', (socket: Awaited<ReturnType<typeof openWire>>) => void socket.resetAndDestroy()],
])('GEN-1 a client that announces more than it sends and %s does no harm', async (_, leave) => {
  const before = await gateway.account();
  for (let round = 0; round < 20; round += 1) {
    const socket = await openWire(gateway.port);
    const read = readWire(socket);
    socket.write(toBytes(post(paddedWithBlanks(2_000), ['content-length: 3000'])));
    await sleep(5);
    leave(socket);
    const replies = parseReplies(await read);
    expect(replies.length).toBeLessThanOrEqual(1);
    for (const reply of replies) judge(reply);
  }
  expect(await gateway.account()).toEqual(before);
  expect((await ask(gateway.port, post(paddedWithBlanks(500)))).status).toBe(200);
});

test.each([
  ['an invalid chunk size', 'zz\r\n{}\r\n0\r\n\r\n'],
  ['a huge chunk size', 'ffffffffffffffffff\r\n{}'],
  ['a chunk longer than its size', '2\r\n{}{}{}\r\n0\r\n\r\n'],
])('GEN-1 %s is 400 or closes the connection', async (_, body) => {
  const replies = await exchange(gateway.port, toBytes(post(Buffer.from(body), ['transfer-encoding: chunked'])));
  expect(replies.length).toBeLessThanOrEqual(1);
  for (const reply of replies) {
    judge(reply);
    expect(reply.status).toBe(400);
  }
  expect(await free()).toEqual([0n, 0]);
});
