import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { hasDynamodb } from '../support/dynamodb.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { newFolder, startProgram, type TestProgram } from '../support/program.ts';
import { startUsageReceiver } from '../support/usage-receiver.ts';

let vendor: Simulator;
beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const rows = z.object({ data: z.array(z.looseObject({ id: z.string(), cost_usd: z.string() })) });

const chat = async (program: TestProgram, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) {
    const response = await postChat(program, { messages: saying('hello') });
    await response.text();
    expect(response.status).toBe(200);
  }
};

const usage = async ({ url, apiKey }: TestProgram) => {
  const headers = { authorization: `Bearer ${apiKey}` };
  return rows.parse(await (await fetch(`${url}/api/usage?limit=1000`, { headers })).json()).data;
};

const stores = [['embedded', []], ...(hasDynamodb ? [['dynamodb', ['--store', 'dynamodb']] as const] : [])] as const;

test.each(stores)('OPS-20 with the store %s a dead receiver and a killed program lose no receipt', async (_, args) => {
  const folder = newFolder();
  const first = await startUsageReceiver();
  const start = () =>
    startProgram({
      vendorUrl: vendor.url,
      folder,
      args,
      environment: { LOCAL_BALANCE_USD: '100', USAGE_EVENTS_URL: first.url, USAGE_EVENTS_SECRET: SECRET },
    });
  const program = await start();
  await chat(program, 2);
  await until('the first events', () => (first.byId().size >= 2 ? true : undefined));
  await first.stop();
  await chat(program, 3);
  await program.kill('SIGKILL');
  const second = await startUsageReceiver(first.port);
  const restarted = await start();
  await chat(restarted, 1);
  const { balance } = await restarted.untilSettled();
  const listed = await usage(restarted);
  const received = await until('every event', () => {
    const events = new Map([...first.byId(), ...second.byId()]);
    return events.size >= listed.length ? [...events.values()] : undefined;
  });
  const receipts = received.map(({ data }) => {
    const { account_id: _account, provider_cost_usd: _cost, ...receipt } = Object(data);
    return receipt;
  });
  const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1);
  expect(receipts.toSorted(byId)).toEqual(listed.toSorted(byId));
  expect(listed).toHaveLength(6);
  const sum = receipts.reduce((total, { cost_usd }) => total + parseUsd(cost_usd), 0n);
  expect(sum).toBe(parseUsd('100') - balance);
  expect(restarted.output()).not.toContain(SECRET);
  await restarted.stop();
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});
