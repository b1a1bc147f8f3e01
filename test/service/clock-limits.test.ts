import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createAccountKey } from '../../lambdas/core/accounts/account-keys.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import { PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type InProcessGateway, startInProcess, TEST_DAY } from '../support/in-process-gateway.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;
const limits = {
  LIMIT_ADDRESS_PER_SECOND: '30',
  LIMIT_ADDRESS_BURST: '60',
  LIMIT_KEY_PER_SECOND: '10',
  LIMIT_KEY_BURST: '15',
};

let vendor: Simulator;
let gateway: InProcessGateway | undefined;
beforeAll(async () => {
  vendor = await startSimulator();
});
afterEach(() => gateway?.stop());
afterAll(() => vendor?.stop());

const chat = (url: string, apiKey: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1-mini', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
  });

/** Starts a gateway whose clock the test sets, with an account that has a usual, a slow and two capped API keys. */
const start = async () => {
  const time = { nowMs: TEST_DAY };
  const started = await startInProcess({ vendorUrl: vendor.url, environment: limits, now: () => time.nowMs });
  gateway = started;
  const { accountId, apiKey } = await started.issue({ balanceUsd: '10' });
  const deps = { ...started.deps, keyBucket: bucketOf(10, 15) };
  const create = async (name: string, change: object): Promise<string> =>
    (await createAccountKey(deps, { accountId, actor: 'owner' }, { name, ...change })).apiKey;
  const cap = { limitPicos: PICOS_PER_USD };
  const keys = {
    usual: apiKey,
    slow: await create('slow', { rate: 0.1 }),
    daily: await create('daily', { ...cap, limitPeriod: 'day' }),
    monthly: await create('monthly', { ...cap, limitPeriod: 'month' }),
  };
  const send = async (key: keyof typeof keys) => (await chat(started.url, keys[key])).status;
  /** Sends more requests than any bucket has. */
  const fill = async (): Promise<void> => {
    for (const key of ['slow', 'daily', 'monthly'] as const) await send(key);
    const statuses = await Promise.all(Array.from({ length: 70 }, () => send('usual')));
    expect(statuses).toContain(429);
  };
  /** Returns the seconds, by the clock, after which every key has been served. */
  const servedAfter = async (): Promise<number> => {
    // The first request reaches the bucket of its key, while that of the client IP rejects the others.
    const waiting = new Set(['slow', 'usual', 'daily', 'monthly'] as const);
    for (let seconds = 0; seconds <= 60; seconds += 1) {
      for (const key of waiting) if ((await send(key)) === 200) waiting.delete(key);
      if (waiting.size === 0) return seconds;
      time.nowMs += SECOND_MS;
    }
    throw new Error(`${[...waiting].join(', ')}: not served within a minute`);
  };
  return { time, fill, servedAfter, findings: async () => (await started.audit()).map(({ findings }) => findings) };
};

test.each([-SECOND_MS, -10 * SECOND_MS, -HOUR_MS, -30 * DAY_MS])(
  'LIM-2 and KEY-9 a clock that steps by %i ms lets each key wait at most 10 s',
  async (stepMs) => {
    const { time, fill, servedAfter, findings } = await start();
    await fill();
    time.nowMs += stepMs;
    expect(await servedAfter()).toBeLessThanOrEqual(10);
    time.nowMs -= stepMs;
    expect(await servedAfter()).toBeLessThanOrEqual(10);
    expect(await findings()).toEqual([[]]);
  },
);

test.each([HOUR_MS, 40 * DAY_MS])(
  'LIM-2 and KEY-9 a clock that was %i ms ahead lets each key wait at most 10 s',
  async (stepMs) => {
    const { time, fill, servedAfter, findings } = await start();
    await fill();
    time.nowMs += stepMs;
    await fill();
    time.nowMs -= stepMs;
    expect(await servedAfter()).toBeLessThanOrEqual(10);
    expect(await findings()).toEqual([[]]);
    time.nowMs += stepMs;
    expect(await servedAfter()).toBeLessThanOrEqual(10);
    expect(await findings()).toEqual([[]]);
  },
);
