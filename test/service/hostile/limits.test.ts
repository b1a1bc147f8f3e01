import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { judge, readError, shapeAt } from '../../support/hostile-oracle.ts';
import { postRoutes, VERSION } from '../../support/hostile-routes.ts';
import { ask, type Reply, type WireRequest } from '../../support/hostile-wire.ts';
import { frozenClock, startInProcess } from '../../support/in-process-gateway.ts';

const ADDRESS = { perSecond: 30, burst: 60 };
const KEY = { perSecond: 10, burst: 15 };

/** Environment variables that leave every limit at its default. */
const standard = {
  LIMIT_ADDRESS_PER_SECOND: '',
  LIMIT_ADDRESS_BURST: '',
  LIMIT_KEY_PER_SECOND: '',
  LIMIT_KEY_BURST: '',
};

/** Returns the number of admitted requests. Fails for a rejection other than LIM-3's. */
const passed = (replies: readonly Reply[]): number => {
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    judge(reply);
    expect([reply.status, readError(reply).code, reply.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '1',
    ]);
  }
  return replies.filter(({ status }) => status === 200).length;
};

/** Sends twenty requests at a time, so only the limit rejects requests. */
const flood = async (port: number, times: number, request: WireRequest): Promise<readonly Reply[]> => {
  const replies: Reply[] = [];
  let left = times;
  const worker = async (): Promise<void> => {
    while (left-- > 0) replies.push(await ask(port, request, 30_000));
  };
  await Promise.all(Array.from({ length: 20 }, worker));
  return replies;
};

test('LIM-2 an API key has one rate limit for every header and query that contains it', async () => {
  const frozen = await startInProcess({
    now: frozenClock,
    vendorUrl: undefined,
    environment: { LIMIT_KEY_PER_SECOND: '', LIMIT_KEY_BURST: '' },
  });
  const { apiKey } = await frozen.issue();
  const ways = [
    { target: '/api/account', headers: [`authorization: Bearer ${apiKey}`] },
    { target: '/v1/models', headers: [`x-api-key: ${apiKey}`, VERSION] },
    { target: '/v1beta/models', headers: [`x-provider-api-key: ${apiKey}`] },
    { target: '/v1/models', headers: [`x-goog-api-key: ${apiKey}`] },
    { target: `/v1beta/models?key=${apiKey}` },
  ];
  const replies: Reply[] = [];
  for (let sent = 0; sent < 40; sent += 1) replies.push(await ask(frozen.port, ways[sent % ways.length] ?? {}));
  await frozen.stop();
  const statuses = replies.map(({ status }) => status);
  expect(statuses).toEqual(statuses.map((_, index) => (index < KEY.burst ? 200 : 429)));
  const refused = replies.slice(KEY.burst).map((reply, index) => {
    const { target = '', headers } = ways[(KEY.burst + index) % ways.length] ?? {};
    const shape = shapeAt(target, headers);
    judge(reply, shape);
    return [readError(reply, shape).code, reply.headers.get('retry-after')];
  });
  expect(new Set(refused.map(String))).toEqual(new Set(['rate_limit_exceeded,1']));
});

test.each(postRoutes)('LIM-1 at one instant no more requests than the burst reach $name', async (route) => {
  const environment = { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '3' };
  const frozen = await startInProcess({ now: frozenClock, vendorUrl: undefined, environment });
  const request = { method: 'POST', target: route.target, body: '{', headers: route.headers('sk-service-x') };
  const replies = await flood(frozen.port, 8, request);
  await frozen.stop();
  for (const reply of replies) judge(reply, route.shape);
  const statuses = replies.map(({ status }) => status).toSorted((one, other) => one - other);
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429, 429, 429]);
  expect(frozen.keyReads).toEqual([]);
});

test('AUTH-6 /health has no rate limit', async () => {
  const gateway = await startInProcess({ now: frozenClock, vendorUrl: undefined, environment: standard });
  const replies = await flood(gateway.port, 100, { target: '/health', from: '127.0.0.3' });
  await gateway.stop();
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
});

test('LIM-2 at one instant exactly 15 of 200 pass with one API key, and LIM-5 counts them down', async () => {
  const frozen = await startInProcess({
    now: frozenClock,
    vendorUrl: undefined,
    environment: { LIMIT_KEY_PER_SECOND: '', LIMIT_KEY_BURST: '' },
  });
  const headers = [`authorization: Bearer ${(await frozen.issue()).apiKey}`];
  const replies = await flood(frozen.port, 200, { target: '/api/account', headers });
  await frozen.stop();
  expect(passed(replies)).toBe(KEY.burst);
  const left = replies
    .filter(({ status }) => status === 200)
    .map(({ headers }) => Number(headers.get('x-ratelimit-remaining-requests')));
  expect(left.toSorted((one, other) => one - other)).toEqual(Array.from({ length: KEY.burst }, (_, index) => index));
});

test.each([
  ['without a key', '/api/models', () => []],
  ['with unknown keys', '/api/account', () => [`authorization: Bearer ${makeApiKey(randomBytes(32))}`]],
])('LIM-1 at one instant exactly 60 of 200 pass from the client IP %s', async (_, target, headers) => {
  const environment = { LIMIT_ADDRESS_PER_SECOND: '', LIMIT_ADDRESS_BURST: '' };
  const frozen = await startInProcess({ now: frozenClock, vendorUrl: undefined, environment });
  const replies = await flood(frozen.port, 200, { target, headers: headers() });
  await frozen.stop();
  expect(replies.filter(({ status }) => status !== 429)).toHaveLength(ADDRESS.burst);
  expect(frozen.keyReads.length).toBeLessThanOrEqual(ADDRESS.burst);
});

test('LIM-1 LIM-2 the limits recover at their rates, up to their bursts', async () => {
  let nowMs = Date.UTC(2026, 10, 20);
  const frozen = await startInProcess({ vendorUrl: undefined, environment: standard, now: () => nowMs });
  const headers = [`authorization: Bearer ${(await frozen.issue()).apiKey}`];
  const afterMs = async (ms: number): Promise<number> => {
    nowMs += ms;
    return passed(await flood(frozen.port, 50, { target: '/api/account', headers }));
  };
  const counts = [await afterMs(0), await afterMs(1_000 * 60), await afterMs(500)];
  await frozen.stop();
  expect(counts).toEqual([15, 15, 5]);
});

test.each([
  ['LIM-1 LIM-3', 'client IP', ADDRESS, () => ({ target: '/api/models' })],
  ['LIM-2 LIM-3', 'API key', KEY, (headers: readonly string[]) => ({ target: '/api/account', headers })],
] as const)('%s at most burst + rate x elapsed + 1 requests pass with one %s', async (_ids, _name, limit, make) => {
  const gateway = await startInProcess({ vendorUrl: undefined, environment: standard });
  const headers = [`authorization: Bearer ${(await gateway.issue()).apiKey}`];
  const startedAtMs = gateway.now();
  const count = passed(await flood(gateway.port, 200, make(headers)));
  const elapsedSeconds = (gateway.now() - startedAtMs) / 1_000;
  await gateway.stop();
  expect(count).toBeGreaterThanOrEqual(limit.burst);
  expect(count).toBeLessThanOrEqual(limit.burst + limit.perSecond * elapsedSeconds + 1);
});
