import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { ignoringRoutes, type PostRoute } from '../../support/hostile-routes.ts';
import { ask } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { fuzzed } from './fuzz-bodies.ts';
import { received, withUnknownMembers } from './unknown-members.ts';

let vendor: Simulator;
let gateway: InProcessGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const post = async (route: PostRoute, apiKey: string, body: object, more: readonly string[] = []) => {
  vendor.reset();
  const headers = [...route.headers(apiKey), 'content-type: application/json', ...more];
  const reply = await ask(gateway.port, { method: 'POST', target: route.target, body: JSON.stringify(body), headers });
  return { reply, atVendor: received(vendor.requests) };
};

const holdOf = async (route: PostRoute, apiKey: string, body: object) => {
  const { reply, atVendor } = await post(route, apiKey, body, ['x-service-dry-run: true']);
  expect([reply.status, atVendor.bodies]).toEqual([200, []]);
  return JSON.parse(reply.body);
};

const runs = randomRuns(import.meta.filename, { quick: 10, long: 300 });

test.each(fuzzed.map(({ route, bodies }) => [route.name, route, bodies] as const))(
  'GEN-9 GEN-16 an unknown member of %s never reaches the provider and changes no hold',
  async (name, route, bodies) => {
    const { apiKey } = await gateway.issue({ balanceUsd: '1000000' });
    await fc.assert(
      fc.asyncProperty(withUnknownMembers(bodies), async ({ good, body }) => {
        const { reply, atVendor } = await post(route, apiKey, body);
        expect(atVendor.hasUnheard).toBe(false);
        expect([200, 400]).toContain(reply.status);
        if (reply.status === 400) {
          expect([atVendor.bodies, ignoringRoutes.has(name) ? reply.body : '']).toEqual([[], '']);
          return;
        }
        expect(reply.headers.get('x-service-ignored-parameters') ?? '').toMatch(/^[\w.[\]%,-]*$/);
        expect(atVendor.bodies).toEqual((await post(route, apiKey, good)).atVendor.bodies);
        if (route.billed) expect(await holdOf(route, apiKey, body)).toEqual(await holdOf(route, apiKey, good));
      }),
      runs,
    );
  },
  runs.numRuns * 400 + 60_000,
);
