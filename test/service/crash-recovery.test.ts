import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { newFolder, startGateway, type TestGateway } from '../support/gateway.ts';
import { MODEL, postChat, pricesOf, readEvents, saying } from '../support/gateway-chat.ts';
import { databasesOf } from '../support/gateway-children.ts';

let vendor: Simulator;
let folder: string;
const running: TestGateway[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
  vendor.reset();
});

async function start(): Promise<TestGateway> {
  const gateway = await startGateway({
    vendorUrl: vendor.url,
    folder,
    environment: { HOLD_GRACE_SECONDS: '1', UPSTREAM_DEADLINE_SECONDS: '3' },
  });
  running.push(gateway);
  return gateway;
}

test('BILL-13 kill -9 during a stream: the hold outlives it, stands as open, and is released by the sweeper', async () => {
  const first = await start();
  const funds = await first.account();
  vendor.next({ stallAfter: 3 });
  const response = await postChat(first, { messages: saying('hello'), stream: true });
  expect((await readEvents(response).next()).done).toBe(false);
  const during = await first.account();
  expect(during.openHolds).toBe(1);
  const [orphan] = databasesOf(folder);

  await first.kill('SIGKILL');
  expect(databasesOf(folder)).toEqual([orphan]);

  const second = await start();
  expect(second.apiKey).toBe(first.apiKey);
  expect(databasesOf(folder)).toHaveLength(1);
  expect(databasesOf(folder)).not.toContain(orphan);

  const found = await second.account();
  expect(found).toEqual({ ...during, balance: funds.balance });
  expect(found.balance).toBe(found.available + found.held);
  expect(found.held).toBeGreaterThan(0n);

  expect(await second.untilSettled()).toEqual(funds);
  expect(second.output().includes('the sweeper failed')).toBe(false);
  expect(vendor.requests).toHaveLength(1);
});

test('BILL-13 after a kill -9 the money of a finished request is still what it was', async () => {
  const first = await start();
  const priceOf = await pricesOf(first, MODEL);
  const before = await first.untilSettled();
  vendor.next({ claimedUsage: { input: 70, output: 21 } });
  const response = await postChat(first, { messages: saying('hello') });
  expect(response.status).toBe(200);
  await first.kill('SIGKILL');
  const after = await (await start()).account();
  expect(before.balance - after.balance).toBe(priceOf({ prompt_tokens: 70, completion_tokens: 21 }));
  expect(after.held).toBe(0n);
});
