import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import type { PaidCallDependencies } from '../../lambdas/core/paid-call/dependencies.ts';
import { data, text } from '../lambdas/core/catalog/sample-data.ts';
import type { Served } from './operations.ts';
import { ledgerDependencies } from './ports.ts';
import type { ClientResult, Host } from './run-actor.ts';

const catalog = loadCatalog(data([text()]));

export const findModel = () => {
  const model = catalog.find('alpha-1', 0);
  if (!model) throw new Error('the model of the search does not exist');
  return model;
};

export const CIRCUIT = { providerId: 'openai', modelId: 'alpha-1' } as const;

/** Dependencies with one available model and a closed circuit. */
export const paidCallDependencies = (host: Host): PaidCallDependencies => ({
  catalog,
  reachable: () => true,
  ledger: ledgerDependencies(host),
  circuits: {
    peek: () => undefined,
    acquire: async () => ({ kind: 'permit', started: async () => undefined, report: async () => undefined }),
    usageMissing: async () => undefined,
  },
  notice: () => undefined,
  holdGraceMs: 300_000,
  upstreamDeadlineMs: 600_000,
  uncollectedDailyPicos: 1n,
});

export const USAGE = { input: 40, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 10, reasoning: 0 } as const;

/** Calls the provider. The call can take any time. */
export const askVendor = async (host: Host, outcomes: readonly Served[]): Promise<void> => {
  const answer = await host.call({ kind: 'vendor', outcomes });
  if (answer.kind !== 'vendor') throw new Error('unexpected reply of a provider');
  if (answer.served === 'failed') throw new GatewayError('upstream_error', 'The provider failed.');
  if (answer.served === 'refused')
    throw new GatewayError('invalid_request_error', 'The provider rejected the request.');
};

/** Returns the result of an intended gateway error. Other errors are bugs and end the search. */
export const errorTold = (requestId: string, error: unknown): ClientResult => {
  if (!(error instanceof GatewayError)) throw error;
  return { requestId, kind: 'error', content: error.code };
};
