import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Summary } from '../../http/exchange.ts';
import { toRequestLine } from '../../http/log/request-line.ts';
import { toCause, toRequestRecord } from '../../http/log/request-record.ts';
import type { Settings } from '../../settings.ts';
import type { Reporting } from './parts.ts';

const NAMESPACE = 'ModelGateway';
const PICOS_PER_MICRO_USD = 1_000_000n;

/** Lines for a person at a terminal, or records and metrics for CloudWatch. */
export const createReporting = ({ LOG_FORMAT }: Settings): Reporting =>
  LOG_FORMAT === 'line' ? forPeople() : forServices();

const forPeople = (): Reporting => ({
  finished: (requestId, summary) => {
    process.stdout.write(`${toRequestLine(requestId, summary)}\n`);
    if (summary.cause !== undefined) process.stderr.write(`  ${JSON.stringify(toCause(summary.cause))}\n`);
  },
  notice: (name, details) => {
    process.stderr.write(`  ${name} ${JSON.stringify(details)}\n`);
  },
});

const forServices = (): Reporting => {
  const logger = new Logger();
  const metrics = new Metrics({ namespace: NAMESPACE });
  return {
    finished: (requestId, summary) => {
      const record = toRequestRecord(requestId, summary);
      if (summary.cause === undefined) logger.info('request', record);
      else logger.error('request', { ...record, cause: toCause(summary.cause) });
      publish(metrics, summary);
    },
    notice: (name, details) => {
      logger.warn(name, { ...details });
      metrics.singleMetric().addMetric(name, MetricUnit.Count, 1);
    },
  };
};

/** Dimensions of few values only: a code, never an account, a model or an id. */
const publish = (metrics: Metrics, summary: Summary): void => {
  const count = (name: string, unit: 'Count' | 'Milliseconds', value: number | undefined) => {
    if (value === undefined) return;
    metrics
      .singleMetric()
      .addDimension('code', summary.errorCode ?? 'ok')
      .addMetric(name, unit, value);
  };
  count('requests', MetricUnit.Count, 1);
  count('total_ms', MetricUnit.Milliseconds, summary.totalMs);
  count('first_byte_ms', MetricUnit.Milliseconds, summary.firstByteMs);
  count('input_tokens', MetricUnit.Count, summary.inputTokens);
  count('output_tokens', MetricUnit.Count, summary.outputTokens);
  if (summary.costPicos === undefined) return;
  count('charged_micro_usd', MetricUnit.Count, Number(summary.costPicos / PICOS_PER_MICRO_USD));
};
