import { afterAll, beforeEach } from 'vitest';
import { startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import type { Environment } from '../support/gateway-process.ts';

/**
 * Starts a gateway on simulated providers for all tests of a file. Call it at the top level of the file. It clears the
 * recorded provider requests before each test, and stops everything after the last one.
 */
export const startSimulated = async (environment: Environment = {}) => {
  const vendor = await startSimulator();
  const start = (settings: Environment) => startGateway({ vendorUrl: vendor.url, environment: settings });
  const gateways = [await start(environment)];
  beforeEach(() => vendor.reset());
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await vendor.stop();
  });
  return {
    vendor,
    gateway: gateways[0]!,
    /** Starts a second gateway on the same providers. */
    another: async (settings: Environment) => {
      const gateway = await start(settings);
      gateways.push(gateway);
      return gateway;
    },
  };
};

/** Settings of a gateway that waits one second for a provider. */
export const hasty: Environment = { UPSTREAM_DEADLINE_SECONDS: '1' };

/** Settings of a gateway whose account is empty. */
export const penniless: Environment = { LOCAL_BALANCE_USD: '0' };
