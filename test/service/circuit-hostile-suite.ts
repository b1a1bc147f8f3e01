import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startCircuitGateway } from '../support/circuit-hostile.ts';
import type { InProcessGateway, InProcessOptions } from '../support/in-process-gateway.ts';

/** Provides a simulated provider for all tests of a file, and gateways that stop after the test that started them. */
export const circuitSuite = () => {
  let vendor: Simulator;
  const started: InProcessGateway[] = [];
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
    open: async (options: Partial<InProcessOptions> = {}): Promise<InProcessGateway> => {
      const gateway = await startCircuitGateway({ vendorUrl: vendor.url, ...options });
      started.push(gateway);
      return gateway;
    },
  };
};
