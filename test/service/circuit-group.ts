import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { realCircuit } from '../support/circuit-calls.ts';
import type { Environment } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { type GroupAccount, type ServerGroup, startServerGroup } from '../support/server-group.ts';

const FUNDS = 100_000_000_000_000n;

export interface CircuitGroup {
  readonly vendor: Simulator;
  readonly group: ServerGroup;
  /** One server per environment. */
  readonly servers: readonly TestProgram[];
  readonly one: GroupAccount;
  readonly other: GroupAccount;
  readonly third: GroupAccount;
  stop(): Promise<void>;
}

/** Starts processes with their own circuit settings on one store, with three accounts and a provider. */
export const startCircuitGroup = async (environments: readonly Environment[]): Promise<CircuitGroup> => {
  const vendor = await startSimulator();
  const group = await startServerGroup();
  const stop = async (): Promise<void> => {
    await group.stop();
    await vendor.stop();
  };
  const start = (environment: Environment) =>
    group.start({ vendorUrl: vendor.url, environment: { ...realCircuit, ...environment } });
  const names = ['customer-1', 'customer-2', 'customer-3'] as const;
  try {
    const servers = await Promise.all(environments.map(start));
    const [one, other, third] = await Promise.all(names.map((name) => group.openAccount(name, FUNDS)));
    if (!one || !other || !third) throw new Error('an account is missing');
    return { vendor, group, servers, one, other, third, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
