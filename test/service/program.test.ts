import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { sdkFor } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { postRoutes } from '../support/hostile-routes.ts';
import type { TestProgram } from '../support/program.ts';

// The only quick suite that starts the program. Others run the gateway in the test process.

let vendor: Simulator;
let program: TestProgram;

beforeAll(async () => {
  vendor = await startSimulator();
  program = await startGateway({ stores: 'engine', vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '100' } });
});
afterAll(async () => {
  await program?.stop();
  await vendor?.stop();
});

const headersOf = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)));

const get = async (path: string): Promise<Response> =>
  fetch(`${program.url}${path}`, { headers: { authorization: `Bearer ${program.apiKey}` } });

test('BILL-3 the program serves every route, and the balance is the credit minus all charges', async () => {
  for (const { name, target, headers, body } of postRoutes) {
    const init = { method: 'POST', headers: headersOf(headers(program.apiKey)), body: JSON.stringify(body('hello')) };
    const response = await fetch(`${program.url}${target}`, init);
    expect([name, response.status, (await response.text()).slice(0, 300)]).toEqual([name, 200, expect.any(String)]);
  }
  const sdk = sdkFor(program);
  const [video] = (await sdk.videos.list()).data;
  await until('the video', async () => {
    const { status } = await sdk.videos.retrieve(video?.id ?? '');
    return status === 'completed' ? status : undefined;
  });
  expect((await (await sdk.videos.downloadContent(video?.id ?? '')).arrayBuffer()).byteLength).toBeGreaterThan(0);

  const { balance } = await program.untilSettled();
  const usage = Object(await (await get('/api/usage?limit=100')).json());
  const costs: readonly bigint[] = usage.data.map(({ cost_usd }: { cost_usd: string }) => parseUsd(cost_usd));
  expect(costs).toHaveLength(postRoutes.filter(({ billed }) => billed).length);
  expect(parseUsd('100') - balance).toBe(costs.reduce((sum, cost) => sum + cost, 0n));
});

test('REF-1 the program serves its pages', async () => {
  const pages = ['/', '/app', '/api-reference', '/api-reference/guides/keys', '/api-reference/routes/health'];
  for (const path of [...pages, '/llms.txt', '/health']) expect((await get(path)).status, path).toBe(200);
});
