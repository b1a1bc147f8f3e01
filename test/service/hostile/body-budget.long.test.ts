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
/** API keys of three accounts without money, whose bodies fill the budget together. */
let fillers: readonly { readonly apiKey: string; readonly from: string }[];
beforeAll(async () => {
  gateway = await startHostileProcess({ BODY_BUDGET_BYTES: String(BUDGET_BYTES) });
  const addresses = ['127.0.1.1', '127.0.1.2', '127.0.1.3'];
  fillers = await Promise.all(addresses.map(async (from) => ({ apiKey: await gateway.issue('0'), from })));
});
afterAll(() => gateway.stop());

const post = (body: Buffer, headers: readonly string[] = [], apiKey = gateway.apiKey) => ({
  ...{ method: 'POST', target: '/v1/chat/completions', body },
  headers: [`authorization: Bearer ${apiKey}`, ...headers],
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

/**
 * Fills the budget with three bodies of different accounts and client IPs that lack only their last byte. Replaces any
 * that gets a response.
 */
const fillBudget = async (requestOf: (apiKey: string) => Buffer) => {
  const open = new Map<string, Socket>();
  const fill = async (): Promise<void> => {
    for (const { apiKey, from } of fillers) {
      if (open.has(from)) continue;
      const socket = await openWire(gateway.port, from);
      open.set(from, socket);
      const leave = (): void => {
        socket.destroy();
        if (open.get(from) === socket) open.delete(from);
      };
      socket.once('data', leave).once('close', leave);
      await new Promise((resolve) => socket.write(requestOf(apiKey).subarray(0, -1), resolve));
    }
  };
  await fill();
  const empty = (): void => {
    for (const socket of open.values()) socket.destroy();
  };
  return { fill, empty };
};

const bytesOf = (route: PostRoute, bytes: number, apiKey = gateway.apiKey): Buffer =>
  toBytes({
    ...{ method: 'POST', target: route.target, body: paddedWithBlanks(bytes, route.body('hi')) },
    headers: route.headers(apiKey),
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
  const budget = await fillBudget((apiKey) => bytesOf(chat, BODY_BYTES_MAX, apiKey));
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
    const budget = await fillBudget((apiKey) => bytesOf(route, BODY_BYTES_MAX, apiKey));
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
  const budget = await fillBudget((apiKey) => toBytes(post(paddedWithBlanks(BODY_BYTES_MAX), [], apiKey)));
  const { status } = await ask(gateway.port, post(paddedWithBlanks(500)), LIMIT_MS);
  budget.empty();
  expect(status).toBe(200);
});

test("GEN-14 an account's slow bodies of 19 MiB do not keep other clients waiting", async () => {
  // A charge shows the gateway that this account has a balance, so it does not share the quarter of its client IP.
  expect((await ask(gateway.port, post(paddedWithBlanks(500)))).status).toBe(200);
  const bytes = 19 * 1024 * 1024;
  const request = toBytes(post(paddedWithBlanks(bytes), [], await gateway.issue('0')));
  const sockets = await Promise.all(Array.from({ length: 8 }, () => openWire(gateway.port, '127.0.2.1')));
  const ended: number[] = [];
  const most = sockets.map((socket, index) => {
    const end = (): void => void ended.push(index);
    socket.once('data', end).once('close', end);
    // Most of the body arrives immediately, so that the memory of 8 bodies would fill the budget.
    return new Promise((resolve) => socket.write(request.subarray(0, -100_000), resolve));
  });
  await Promise.race(most);
  const dribble = setInterval(() => {
    for (const socket of sockets) socket.write(' '.repeat(1_229));
  }, 1_000);
  const statuses: number[] = [];
  for (const from of ['127.0.2.1', '127.0.2.2', '127.0.2.1', '127.0.2.2', '127.0.2.1', '127.0.2.2']) {
    const { status } = await ask(gateway.port, { ...post(paddedWithBlanks(300_000)), from }, LIMIT_MS);
    statuses.push(status);
  }
  clearInterval(dribble);
  const endedBefore = [...ended];
  for (const socket of sockets) socket.destroy();
  expect([statuses, endedBefore]).toEqual([Array(6).fill(200), []]);
});
