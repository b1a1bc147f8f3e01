import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startCircuitGateway } from './circuit-hostile.ts';
import { dear as dearest } from './error-rows-table.ts';
import type { HostileGateway, HostileOptions } from './hostile-gateway.ts';
import { type PostRoute, postRoutes } from './hostile-routes.ts';

/** A vendor for all tests of a file, and gateways that end with the test that opened them. */
export const circuitSuite = () => {
  let vendor: Simulator;
  const started: HostileGateway[] = [];
  beforeAll(async () => {
    vendor = await startSimulator();
  });
  beforeEach(() => vendor.reset());
  afterEach(async () => {
    for (const gateway of started.splice(0)) await gateway.stop();
  });
  afterAll(() => vendor.stop());
  return {
    vendor: () => vendor,
    open: async (options: Partial<HostileOptions> = {}): Promise<HostileGateway> => {
      const gateway = await startCircuitGateway({ vendor: vendor.url, ...options });
      started.push(gateway);
      return gateway;
    },
  };
};

export const named = (routes: readonly PostRoute[]) => routes.map((route) => [route.name, route] as const);
export const billed = postRoutes.filter((route) => route.billed);
export const dear = (route: PostRoute): object => dearest({ route });
