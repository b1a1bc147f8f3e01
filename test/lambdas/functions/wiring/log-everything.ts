import { limitNames } from '../../../../lambdas/core/errors/gateway-error.ts';
import { measures, moneyMetric, movements, operationalEvents } from '../../../../lambdas/core/metrics.ts';
import { createReporting } from '../../../../lambdas/functions/wiring/reporting.ts';

/** Reporting as in a Lambda process. The lines below emit every operational event and metric. */
const { finished, notice, measured } = createReporting({ LOG_FORMAT: 'json', FUNCTION_NAME: 'gateway-test-text' });
finished('REQUEST1', {
  status: 200,
  route: 'chatCompletions',
  model: 'alpha-1',
  inputTokens: 3,
  outputTokens: 5,
  providerMs: 4,
  firstByteMs: 7,
  totalMs: 11,
});
finished('REQUEST2', { status: 404, errorCode: 'not_found', lacksClientIp: true, totalMs: 1 });
finished('REQUEST3', { status: 500, errorCode: 'internal_error', totalMs: 1, cause: new Error('a secret message') });
for (const limit of limitNames)
  finished('REQUEST4', { status: 429, errorCode: 'rate_limit_exceeded', limit, route: 'getAccount' });
for (const name of operationalEvents) notice(name, { requestId: 'REQUEST5' });
measured(Object.fromEntries(measures.map((measure) => [measure, 13])));
measured(Object.fromEntries(movements.map((movement) => [moneyMetric(movement), 0.25])));
measured({ margin_micro_usd: -3 }, { model: 'gpt-5.4' });
measured({});
