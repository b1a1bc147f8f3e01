import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MaintenanceState } from '../../lambdas/core/maintenance.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway, type TestInProcessGateway } from '../support/gateway.ts';
import { MODEL, postChat, saying } from '../support/gateway-chat.ts';
import { postRoutes } from '../support/hostile-routes.ts';
import { TEST_DAY } from '../support/in-process-gateway.ts';
import { postKeyed } from './keyed-requests.ts';

let vendor: Simulator;
let gateway: TestInProcessGateway;
let nowMs = TEST_DAY;
beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url, now: () => nowMs });
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

/** Sets the switch, and lets its known value become old. */
const setMaintenance = async (state: MaintenanceState): Promise<void> => {
  await gateway.deps.maintenance.write(state);
  nowMs += 11_000;
};

const get = async (path: string) => {
  const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.apiKey}` } });
  return [response.status, await response.text()] as const;
};

const headersOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)));

test('OPS-15 running requests and streams end and are charged, while new requests get 503', async () => {
  const before = (await gateway.account()).balance;
  const gate = vendor.gate();
  const plain = postChat(gateway, { messages: saying('a running request') });
  const stream = postChat(gateway, { messages: saying('a running stream'), stream: true });
  await expect.poll(() => vendor.requests.length).toBe(2);
  await setMaintenance('on');
  const refused = await postChat(gateway, { messages: saying('a new request') });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '300']);
  gate.open();
  const [done, streamed] = [await plain, await (await stream).text()];
  expect([done.status, streamed.endsWith('data: [DONE]\n\n')]).toEqual([200, true]);
  const { balance, openHolds } = await gateway.untilSettled();
  const cost = parseUsd(done.headers.get('x-service-cost-usd') ?? '');
  expect(openHolds).toBe(0);
  expect(before - balance).toBeGreaterThan(cost);
  expect(vendor.requests).toHaveLength(2);
  await setMaintenance('off');
});

test('OPS-15, GEN-3 the 503 has the shape of each protocol, and no hold or provider call', async () => {
  await setMaintenance('on');
  const [before, calls] = [await gateway.account(), vendor.requests.length];
  for (const { name, target, headers, body, billed } of postRoutes.filter((route) => route.billed)) {
    const init = { method: 'POST', headers: headersOf(headers(gateway.apiKey)), body: JSON.stringify(body('hello')) };
    const response = await fetch(`${gateway.url}${target}`, init);
    const text = await response.text();
    expect([name, billed, response.status, response.headers.get('retry-after')]).toEqual([name, true, 503, '300']);
    expect(text, name).toContain('The service is in maintenance.');
    expect(text, name).toMatch(/"(code|reason)":"service_unavailable"/);
  }
  expect([await gateway.account(), vendor.requests.length]).toEqual([before, calls]);
  await setMaintenance('off');
});

test('OPS-15, GEN-10 health, the account and the lists respond in maintenance', async () => {
  expect(await get('/health')).toEqual([200, '{"status":"ok"}']);
  for (const state of ['on', 'paused'] as const) {
    await setMaintenance(state);
    expect(await get('/health')).toEqual([200, '{"status":"maintenance"}']);
    for (const path of ['/api/account', '/api/usage', '/v1/models', '/v1/videos', '/api-reference'])
      expect((await get(path))[0], path).toBe(200);
  }
  await setMaintenance('off');
  expect(await get('/health')).toEqual([200, '{"status":"ok"}']);
});

test('OPS-15, IDEM-1 a repeat gets 503 in maintenance, and the stored response afterwards', async () => {
  const body = { model: MODEL, messages: saying('a keyed request') };
  const first = await postKeyed(gateway, 'key-1', body);
  const { balance } = await gateway.untilSettled();
  await setMaintenance('on');
  expect((await postKeyed(gateway, 'key-1', body)).status).toBe(503);
  expect((await postKeyed(gateway, 'key-2', body)).status).toBe(503);
  await setMaintenance('off');
  const again = await postKeyed(gateway, 'key-1', body);
  expect([again.status, again.replayed, again.text]).toEqual([200, true, first.text]);
  expect((await gateway.account()).balance).toBe(balance);
  const late = await postKeyed(gateway, 'key-2', body);
  expect([late.status, late.replayed]).toEqual([200, false]);
});

test('OPS-15 paused workers leave an expired hold open, and release it after the pause', async () => {
  await gateway.untilSettled();
  const { accountId } = gateway;
  const times = { expiresAtMs: nowMs, sweepAtMs: nowMs, previousHoldId: undefined };
  await gateway.ledger.hold({ accountId, holdId: '01K0000000000000000000000A.0', amountPicos: 1_000n, ...times });
  // Later than the next sweep that earlier holds have set.
  nowMs += 3_600_000;
  await setMaintenance('paused');
  await gateway.sweep();
  expect((await gateway.account()).openHolds).toBe(1);
  expect(gateway.output()).toContain('{"name":"worker_paused","worker":"sweep"}');
  await setMaintenance('on');
  await gateway.sweep();
  expect((await gateway.account()).openHolds).toBe(0);
  await setMaintenance('off');
});
