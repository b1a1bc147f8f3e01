import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Scenario } from '../../lib/local/upstreams/scenario.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway, vendorKey } from '../support/gateway.ts';
import {
  allEvents,
  type Counts,
  chunkSchema,
  errorSchema,
  MODEL,
  postChat,
  pricesOf,
  readError,
  saying,
  spentBy,
} from '../support/gateway-chat.ts';

let vendor: Simulator;
let gateway: TestGateway;
let priceOf: (usage: Counts) => bigint;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url, environment: { UPSTREAM_DEADLINE_SECONDS: '2' } });
  priceOf = await pricesOf(gateway, MODEL);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

interface Row {
  readonly rule: string;
  readonly name: string;
  readonly scenario: Scenario;
  readonly status: number;
  readonly code: string;
  /** A fixed value, `none`, or `jitter` for 5 to 30. */
  readonly retryAfter: string;
}

const row = (name: string, scenario: Scenario, status: number, code: string, rest: Partial<Row> = {}): Row => ({
  rule: 'ERR-9',
  name,
  scenario,
  status,
  code,
  retryAfter: 'none',
  ...rest,
});
const status = (code: number, retryAfterSeconds?: number): Scenario => ({
  refusal: { kind: 'status', status: code, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
});
const refused = (kind: 'unauthorized' | 'quota' | 'model-not-found'): Scenario => ({ refusal: { kind } });
const ours = { rule: 'ERR-3', retryAfter: '30' };
const filtered = { rule: 'CHAT-14' };

const eitherWay: readonly Row[] = [
  row('500', status(500), 502, 'upstream_error'),
  row('418', status(418), 502, 'upstream_error'),
  row('503', status(503), 503, 'service_unavailable', { retryAfter: '30' }),
  row('504', status(504), 504, 'upstream_timeout'),
  row('429', status(429), 429, 'upstream_capacity', { retryAfter: 'jitter' }),
  row('429 for 7 s', status(429, 7), 429, 'upstream_capacity', { rule: 'ERR-2', retryAfter: '7' }),
  row('429 for 0 s', status(429, 0), 429, 'upstream_capacity', { rule: 'ERR-2', retryAfter: '1' }),
  row('429 for 1 h', status(429, 3_600), 429, 'upstream_capacity', { rule: 'ERR-2', retryAfter: '300' }),
  row('529', status(529), 429, 'upstream_capacity', { retryAfter: 'jitter' }),
  row('401', refused('unauthorized'), 503, 'service_unavailable', ours),
  row('402', status(402), 503, 'service_unavailable', ours),
  row('403', status(403), 503, 'service_unavailable', ours),
  row('quota', refused('quota'), 503, 'service_unavailable', ours),
  row('404', refused('model-not-found'), 503, 'model_unavailable'),
  row('422', status(422), 400, 'invalid_request_error'),
  row('redirect', { redirect: true }, 502, 'upstream_error'),
  row('reset', { reset: true }, 502, 'upstream_error'),
  row('garbage', { garbage: true }, 502, 'upstream_error'),
  row('silence', { hang: true }, 504, 'upstream_timeout', { rule: 'LIM-6' }),
  row('cut', { cutAfter: 0 }, 502, 'upstream_error'),
  row('content filter before any content', { contentFilterAfter: 0 }, 400, 'content_filter', filtered),
];

const plainOnly: readonly Row[] = [
  row('content filter after content', { contentFilterAfter: 3 }, 400, 'content_filter', filtered),
  row('last byte missing', { cutAfterUsage: true }, 502, 'upstream_error'),
];

const streamOnly: readonly Row[] = [
  row('first event an error', { errorAfter: 0 }, 502, 'upstream_error', { rule: 'ERR-4' }),
  row('silence for an event', { stallAfter: 0 }, 504, 'upstream_timeout', { rule: 'LIM-6' }),
];

const cases = [
  ...[...eitherWay, ...plainOnly].map((one) => ({ ...one, stream: false, kind: 'plain' })),
  ...[...eitherWay, ...streamOnly].map((one) => ({ ...one, stream: true, kind: 'streamed' })),
];

test.each(cases)('$rule the vendor answers $name ($kind): $status $code, free of charge', async (wanted) => {
  vendor.next(wanted.scenario);
  const { result: response, spent } = await spentBy(gateway, () =>
    postChat(gateway, { messages: saying('hello'), stream: wanted.stream }),
  );
  const text = await response.text();
  expect([response.status, text]).toEqual([wanted.status, expect.stringContaining(`"code":"${wanted.code}"`)]);
  expect(errorSchema.parse(JSON.parse(text)).error.code).toBe(wanted.code);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(response.headers.get('x-service-cost-usd')).toBeNull();
  expect(text).not.toContain(vendorKey);
  const retryAfter = response.headers.get('retry-after');
  if (wanted.retryAfter === 'jitter') {
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(5);
    expect(Number(retryAfter)).toBeLessThanOrEqual(30);
  } else expect(retryAfter ?? 'none').toBe(wanted.retryAfter);
  expect(spent).toBe(0n);
  // Never asked twice (GEN-5).
  expect(vendor.requests).toHaveLength(1);
});

const midStream = [
  { rule: 'BILL-9', name: 'an error event', scenario: { errorAfter: 3 }, code: 'upstream_error' },
  { rule: 'BILL-9', name: 'a destroyed socket', scenario: { cutAfter: 3 }, code: 'upstream_error' },
  { rule: 'LIM-6', name: 'silence', scenario: { stallAfter: 3 }, code: 'upstream_timeout' },
  { rule: 'CHAT-14', name: 'a content filter', scenario: { contentFilterAfter: 2 }, code: 'content_filter' },
];

test.each(midStream)('$rule $name mid-stream is an error event, no [DONE], free of charge', async (wanted) => {
  vendor.next(wanted.scenario);
  const { result: events, spent } = await spentBy(gateway, async () => {
    const response = await postChat(gateway, { messages: saying('hello'), stream: true });
    expect(response.status).toBe(200);
    return allEvents(response);
  });
  expect(events).toHaveLength(4);
  for (const event of events.slice(0, 3)) expect(chunkSchema.parse(JSON.parse(event)).usage ?? null).toBeNull();
  expect(errorSchema.parse(JSON.parse(events.at(-1) ?? '')).error.code).toBe(wanted.code);
  expect(spent).toBe(0n);
});

test('BILL-9 a stream cut after its usage is charged and ends properly', async () => {
  vendor.next({ cutAfterUsage: true, claimedUsage: { input: 33, output: 44 } });
  const { result: events, spent } = await spentBy(gateway, async () =>
    allEvents(await postChat(gateway, { messages: saying('hello'), stream: true })),
  );
  expect(vendor.requests.at(-1)?.outcome).toBe('cut');
  expect(events.at(-1)).toBe('[DONE]');
  const last = chunkSchema.parse(JSON.parse(events.at(-2) ?? ''));
  expect(last.usage).toMatchObject({ prompt_tokens: 33, completion_tokens: 44 });
  expect(last.choices[0]?.finish_reason).toBe('stop');
  expect(spent).toBe(priceOf({ prompt_tokens: 33, completion_tokens: 44 }));
});

test('ERR-9 a vendor that nobody reaches is 503 service_unavailable, free of charge', async () => {
  const gone = await startSimulator();
  await gone.stop();
  const lonely = await startGateway({ vendorUrl: gone.url });
  try {
    const { result: response, spent } = await spentBy(lonely, () => postChat(lonely, { messages: saying('hello') }));
    expect([response.status, (await readError(response)).code]).toEqual([503, 'service_unavailable']);
    expect(response.headers.get('retry-after')).toBe('30');
    expect(spent).toBe(0n);
  } finally {
    await lonely.stop();
  }
});

test('ERR-5 neither the key of the vendor nor a prompt is ever written by the program', async () => {
  const prompt = 'canary-4f1c77';
  for (const scenario of [{}, status(500), { reset: true }, { garbage: true }]) {
    vendor.next(scenario);
    await (await postChat(gateway, { messages: saying(prompt) })).text();
  }
  expect(vendor.requests).toHaveLength(4);
  expect(gateway.output().includes('upstream_error')).toBe(true);
  expect(gateway.output().includes(prompt)).toBe(false);
  expect(gateway.output().includes(vendorKey)).toBe(false);
});
