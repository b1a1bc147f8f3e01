import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { type Client, type Expectation, naturalRequests, type ScenarioName } from './client.ts';
import type { Report } from './client-program.ts';
import type { Call } from './proxy.ts';

/** Observations of the suite in one scenario. Amounts are in pico-USD. */
export interface Observed {
  readonly report: Report;
  readonly calls: readonly Call[];
  /** Sum of the receipts. Undefined if an answer has none. */
  readonly receipts: bigint | undefined;
  /** Drop of the balance. */
  readonly spent: bigint;
}

export type Verdict =
  | { readonly outcome: 'pass' }
  /** The scenario failed, as the limit in its row requires. */
  | { readonly outcome: 'limit'; readonly reason: string }
  | { readonly outcome: 'fail'; readonly reason: string };

const answerPath =
  /^\/v1\/(chat\/completions|responses|messages|embeddings|images\/generations)$|:(generateContent|streamGenerateContent)$/;

/** Whether a call requests output of a model. Other calls list models, count tokens or check the server. */
export const isAnswerCall = ({ method, path }: Call): boolean => method === 'POST' && answerPath.test(path);

/**
 * Whether the gateway rejected a call below `/v1`. Other paths do not count, because clients also call addresses that
 * only their provider has, such as a health check, and tolerate a failure there.
 */
const isRefused = ({ status, path }: Call): boolean => (status === 0 || status >= 400) && path.startsWith('/v1');

export const isErrorScenario = (scenario: ScenarioName): boolean => scenario.startsWith('error_');

/** Returns the number of model requests that a scenario must cause. */
export const expectedRequests = (client: Client, scenario: ScenarioName, { requests }: Expectation): number => {
  if (requests !== undefined) return requests;
  const repeats = { error_429: client.retries.on429, error_500: client.retries.on500 };
  return naturalRequests[scenario] + (scenario === 'error_429' || scenario === 'error_500' ? repeats[scenario] : 0);
};

/** Returns the ignored fields of all calls, sorted and without duplicates. */
export const ignoredOf = (calls: readonly Call[]): readonly string[] =>
  [...new Set(calls.flatMap(({ ignored }) => ignored))].sort();

export const judge = (
  client: Client,
  scenario: ScenarioName,
  expectation: Expectation,
  observed: Observed,
): Verdict => {
  const problem = firstProblem(client, scenario, expectation, observed);
  const { limit } = expectation;
  if (limit === undefined) return problem === undefined ? { outcome: 'pass' } : { outcome: 'fail', reason: problem };
  return problem === undefined
    ? { outcome: 'fail', reason: `passes, although the row states a limit: ${limit}` }
    : { outcome: 'limit', reason: limit };
};

const firstProblem = (
  client: Client,
  scenario: ScenarioName,
  expectation: Expectation,
  { report, calls, receipts, spent }: Observed,
): string | undefined => {
  const refused = isErrorScenario(scenario) ? [] : calls.filter(isRefused);
  const [first] = refused;
  if (first !== undefined && refused.length !== (expectation.refused ?? 0)) {
    return `${first.status} on ${first.path}: ${first.problem}`;
  }
  if (!report.ok) return report.status ? `${report.status}: ${report.error}` : report.error;
  const requests = calls.filter(isAnswerCall).length;
  const expected = expectedRequests(client, scenario, expectation);
  if (requests !== expected) return `${requests} requests instead of ${expected}`;
  const ignored = ignoredOf(calls);
  const wanted = expectation.ignored ?? [];
  if (ignored.join() !== wanted.join()) return `ignored is [${ignored.join(', ')}] instead of [${wanted.join(', ')}]`;
  if (receipts === undefined) return 'an answer has no receipt';
  if (receipts !== spent)
    return `receipts sum to ${formatUsd(receipts)} USD, the balance fell by ${formatUsd(spent)} USD`;
  return !isErrorScenario(scenario) && receipts === 0n ? 'nothing was charged' : undefined;
};
