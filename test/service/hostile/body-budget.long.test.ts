import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { chunked, paddedWithBlanks, withImage } from '../../support/hostile-bodies.ts';
import { judge, readError } from '../../support/hostile-oracle.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import { chat, generateContent, messages, type PostRoute } from '../../support/hostile-routes.ts';
import { ask, exchange, openWire, type Reply, toBytes } from '../../support/hostile-wire.ts';

/** Budget for three bodies. */
const BUDGET_BYTES = 3 * BODY_BYTES_MAX;
const MEMORY_BYTES_MAX = 1.5 * 1024 ** 3;
const LIMIT_MS = 60_000;

let gateway: HostileProcess;
beforeAll(async () => {
  gateway = await startHostileProcess({ BODY_BUDGET_BYTES: String(BUDGET_BYTES) });
});
afterAll(() => gateway.stop());

const post = (body: Buffer, headers: readonly string[] = []) => ({
  ...{ method: 'POST', target: '/v1/chat/completions', body },
  headers: [`authorization: Bearer ${gateway.apiKey}`, ...headers],
});

/** Number of concurrent bodies. `RUNS` multiplies it. */
const AT_ONCE = 8 * Number(process.env.RUNS ?? 1);

test.each([
  ['with their length', (body: Buffer) => post(body)],
  ['in chunks', (body: Buffer) => post(chunked(body), ['transfer-encoding: chunked'])],
])('GEN-14 many concurrent 20 MiB bodies %s are served or get a retry, in bounded memory', async (_, request) => {
  const bodies = [withImage(BODY_BYTES_MAX), paddedWithBlanks(BODY_BYTES_MAX)].map((body) => toBytes(request(body)));
  const sent = Array.from({ length: AT_ONCE / bodies.length }, () => bodies).flat();
  const replies = (await Promise.all(sent.map((body) => exchange(gateway.port, body, LIMIT_MS)))).flat();
  expect(replies).toHaveLength(AT_ONCE);
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    judge(reply);
    expect(readError(reply).code).toBe('service_unavailable');
    expect(reply.headers.get('retry-after')).toBe('1');
  }
  expect(replies.some(({ status }) => status === 200)).toBe(true);
  expect(gateway.peakBytes()).toBeLessThan(MEMORY_BYTES_MAX);
  expect(await gateway.account()).toMatchObject({ held: 0n, openHolds: 0 });
});

/** Fills the budget with three bodies that lack only their last byte. Replaces any that gets a response. */
const fillBudget = async (request: Buffer) => {
  const most = request.subarray(0, -1);
  const open = new Set<Socket>();
  const fill = async (): Promise<void> => {
    while (open.size < 3) {
      const socket = await openWire(gateway.port);
      open.add(socket);
      const leave = (): void => {
        socket.destroy();
        open.delete(socket);
      };
      socket.once('data', leave).once('close', leave);
      await new Promise((resolve) => socket.write(most, resolve));
    }
  };
  await fill();
  const empty = (): void => {
    for (const socket of open) socket.destroy();
  };
  return { fill, empty };
};

const bytesOf = (route: PostRoute, bytes: number): Buffer =>
  toBytes({
    ...{ method: 'POST', target: route.target, body: paddedWithBlanks(bytes, route.body('hi')) },
    headers: route.headers(gateway.apiKey),
  });

/** Returns the rejection of a request. Requests that arrive before the budget is full are repeated. */
const refusalAt = async (route: PostRoute, fill: () => Promise<void>): Promise<Reply> => {
  for (let tries = 0; tries < 50; tries += 1) {
    await fill();
    const before = await gateway.account();
    const calls = gateway.vendor.requests.length;
    const [reply] = await exchange(gateway.port, bytesOf(route, 1_000_000), LIMIT_MS);
    if (!reply || reply.status === 200) continue;
    expect(await gateway.account()).toEqual(before);
    expect(gateway.vendor.requests.length).toBe(calls);
    return reply;
  }
  throw new Error('the budget is never full');
};

test('GEN-14 a request without body budget waits 10 s, gets 503 and costs nothing', async () => {
  const budget = await fillBudget(bytesOf(chat, BODY_BYTES_MAX));
  const late = refusalAt(chat, budget.fill);
  const free = await ask(gateway.port, { target: '/v1/models', headers: [`authorization: Bearer ${gateway.apiKey}`] });
  const reply = await late;
  budget.empty();
  judge(reply);
  expect([reply.status, readError(reply).code]).toEqual([503, 'service_unavailable']);
  expect(reply.headers.get('retry-after')).toBe('1');
  expect(free.status).toBe(200);
});

test.each([messages, generateContent])(
  'GEN-14 a rejection without body budget at $name has its own error shape',
  async (route) => {
    const budget = await fillBudget(bytesOf(route, BODY_BYTES_MAX));
    const reply = await refusalAt(route, budget.fill);
    budget.empty();
    judge(reply, route.shape);
    const { code } = readError(reply, route.shape);
    expect([reply.status, code, reply.headers.get('retry-after')]).toEqual([503, 'service_unavailable', '1']);
    expect(await gateway.account()).toMatchObject({ held: 0n, openHolds: 0 });
  },
);

test('GEN-14 the budget of clients that left serves the next request', async () => {
  expect((await ask(gateway.port, post(paddedWithBlanks(BODY_BYTES_MAX)), LIMIT_MS)).status).toBe(200);
});

test('GEN-14 bodies that announce 20 MiB and send almost nothing do not block other requests', async () => {
  const head = toBytes(post(Buffer.alloc(0), [`content-length: ${BODY_BYTES_MAX}`]));
  const sockets = await Promise.all(Array.from({ length: 8 }, () => openWire(gateway.port)));
  for (const socket of sockets) socket.write(Buffer.concat([head, Buffer.from('{')]));
  const honest = Array.from({ length: 4 }, () => ask(gateway.port, post(paddedWithBlanks(500)), LIMIT_MS));
  const statuses = (await Promise.all(honest)).map(({ status }) => status);
  for (const socket of sockets) socket.destroy();
  expect(statuses).toEqual([200, 200, 200, 200]);
});

test('GEN-14 small requests are served while large bodies fill the budget', async () => {
  const budget = await fillBudget(toBytes(post(paddedWithBlanks(BODY_BYTES_MAX))));
  const { status } = await ask(gateway.port, post(paddedWithBlanks(500)), LIMIT_MS);
  budget.empty();
  expect(status).toBe(200);
});
