import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSimulator } from '../../local/simulators/server.ts';
import { startGateway, type TestInProcessGateway } from '../support/gateway.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { TEST_DAY } from '../support/in-process-gateway.ts';

const MINUTE = 60_000;
/** Buckets that last for hours, so that no rate limit depends on the clock. */
const environment = {
  LIMIT_ADDRESS_PER_SECOND: '1',
  LIMIT_ADDRESS_BURST: '20000',
  LIMIT_KEY_PER_SECOND: '1',
  LIMIT_KEY_BURST: '20000',
};
let nowMs = TEST_DAY;
let vendor: Awaited<ReturnType<typeof startSimulator>>;
let gateway: TestInProcessGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url, environment, now: () => nowMs });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const get = async (path: string) => {
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  return JSON.parse(await (await fetch(`${gateway.url}${path}`, { headers })).text());
};
const chat = async () => {
  const response = await postChat(gateway, { messages: saying('hello') });
  expect(response.status).toBe(200);
  await response.text();
  await gateway.untilSettled();
};
const summary = () => get('/api/usage/summary');

test('BILL-23 the summary and the keys count a request that a clock behind the sums has made', async () => {
  await chat();
  nowMs += 10 * MINUTE;
  await chat();
  nowMs += 50 * MINUTE;
  expect(await summary()).toMatchObject({ complete: true, total: { requests: 2 } });
  const [{ spent_usd: before }] = (await get('/api/keys')).data;
  nowMs -= 55 * MINUTE;
  await chat();
  for (const laterMs of [0, 55 * MINUTE, 60 * MINUTE]) {
    nowMs += laterMs;
    expect(await summary()).toMatchObject({ complete: true, total: { requests: 3 } });
  }
  const receipts: readonly { readonly cost_usd: string }[] = (await get('/api/usage')).data;
  expect(receipts).toHaveLength(3);
  const [{ spent_usd: after }] = (await get('/api/keys')).data;
  expect(Number(after)).toBeCloseTo(
    receipts.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0),
    12,
  );
  expect(Number(after)).toBeGreaterThan(Number(before));
  expect((await summary()).total.cost_usd).toBe(after);
});
