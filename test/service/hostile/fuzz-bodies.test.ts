import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { judge, moneyOf, refusePollution } from '../../support/hostile-oracle.ts';
import type { PostRoute } from '../../support/hostile-routes.ts';
import { ask } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { fuzzed } from './fuzz-bodies.ts';
import { mutatedText } from './hostile-json.ts';

let vendor: Simulator;
let gateway: InProcessGateway;

beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 0 });
  gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const post = ({ target, headers }: PostRoute, apiKey: string, body: string) =>
  ask(gateway.port, { method: 'POST', target, body, headers: [...headers(apiKey), 'content-type: application/json'] });

const table = fuzzed.map(({ route, bodies }) => [route.name, route, bodies] as const);

test.concurrent.each(table)('every base body of the fuzzer of %s is served', async (_, route, bodies) => {
  const { apiKey } = await gateway.issue();
  for (const body of bodies) {
    const reply = await post(route, apiKey, JSON.stringify(body));
    expect(reply.status, `${reply.body.slice(0, 300)} to ${JSON.stringify(body)}`).toBe(200);
  }
});

const runs = randomRuns(import.meta.filename, { quick: 25, long: 900 });

test.concurrent.each(table)(
  'GEN-2 GEN-3 GEN-4 BILL-2 BILL-17 no body of %s breaks the gateway or causes a wrong charge',
  async (_name, route, bodies) => {
    const { apiKey, accountId } = await gateway.issue({ balanceUsd: '1000000' });
    const check = async (body: string): Promise<void> => {
      const before = await moneyOf(gateway, accountId);
      const reply = await post(route, apiKey, body);
      judge(reply, route.shape);
      // The simulated provider fails on no well-formed request.
      if (reply.status > 500) throw new Error(`${reply.status}: ${reply.body.slice(0, 300)}`);
      const after = await moneyOf(gateway, accountId);
      const mayCost = route.billed && reply.status === 200;
      if (!mayCost && after.spent !== before.spent) throw new Error(`${reply.status} was charged`);
      if (gateway.crashes.length > 0) throw new Error(`a handler failed: ${gateway.crashes.join()}`);
      refusePollution();
    };
    await fc.assert(fc.asyncProperty(mutatedText(bodies), check), runs);
  },
  runs.numRuns * 100 + 60_000,
);
