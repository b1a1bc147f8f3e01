import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { errorRows } from '../../core/errors/error-codes.ts';
import {
  ADDED_MS_MAX,
  METRIC_NAMESPACE,
  type MetricDimension,
  type MetricName,
  type MetricRow,
  metrics,
  type RequestMetric,
} from '../../core/metrics.ts';
import { addedMsOf, type Summary } from '../../http/exchange.ts';
import { toCause, toRequestLine, toRequestRecord } from '../../http/request-log.ts';
import { routes } from '../../routes.ts';
import type { Settings } from '../../settings.ts';
import type { Reporting } from './dependencies.ts';

type MetricValues = Readonly<Partial<Record<MetricName, number>>>;
export type DimensionValues = Readonly<Partial<Record<MetricDimension, string>>>;

/** Map for lookups with arbitrary strings, which the type of the object does not allow. */
const rows: ReadonlyMap<string, MetricRow> = metrics;

/**
 * Writes one line of CloudWatch's embedded metric format for all values with the same dimensions. Nothing is awaited
 * between the first value and the line, so requests of one process never mix. The dimension `service` is
 * POWERTOOLS_SERVICE_NAME.
 */
export const createPublisher = () => {
  const writer = new Metrics({ namespace: METRIC_NAMESPACE });
  return (values: MetricValues, dimensions: DimensionValues = {}): void => {
    const present = Object.entries(values).flatMap(([name, value]) => {
      const unit = rows.get(name)?.unit;
      return unit === undefined || value === undefined ? [] : [{ name, unit, value }];
    });
    if (present.length === 0) return;
    for (const [dimension, value] of Object.entries(dimensions)) writer.addDimension(dimension, value);
    for (const { name, unit, value } of present) writer.addMetric(name, unit, value);
    writer.publishStoredMetrics();
  };
};

export interface RequestMetrics {
  readonly dimensions: DimensionValues;
  readonly values: Readonly<Partial<Record<RequestMetric, number | undefined>>>;
}

/** Failures of the gateway or its platform. A provider's own 503 has the same code and counts as well. */
const ours: ReadonlySet<string> = new Set(['internal_error', 'service_unavailable']);

/** Map for lookups with the code of a stored response. */
const statuses: ReadonlyMap<string, number> = new Map(
  Object.entries(errorRows).map(([code, [status]]) => [code, status]),
);

/**
 * Returns 1 if a paid request failed by the gateway's fault, otherwise 0. Undefined for requests without a price, and
 * for those that the client made fail, because they would hide failures in the share.
 */
const paidFailed = ({ route, errorCode, dryRun, providerFailed }: Summary): 0 | 1 | undefined => {
  if (route === undefined || !routes[route].billed || dryRun) return undefined;
  if (errorCode === undefined || providerFailed) return 0;
  if (ours.has(errorCode)) return 1;
  return (statuses.get(errorCode) ?? 500) >= 500 ? 0 : undefined;
};

/** Returns the metric values of a request, grouped by their dimensions. */
export const requestMetrics = (summary: Summary): readonly RequestMetrics[] => {
  const { route, errorCode = 'ok', limit } = summary;
  const addedMs = addedMsOf(summary);
  return [
    {
      dimensions: {},
      values: {
        failed_by_us: ours.has(errorCode) ? 1 : 0,
        client_ip_missing: summary.lacksClientIp && 1,
        paid_failed: paidFailed(summary),
        added_ms: addedMs,
        added_slow: addedMs === undefined ? undefined : Number(addedMs > ADDED_MS_MAX),
      },
    },
    { dimensions: { code: errorCode }, values: { requests: 1 } },
    {
      dimensions: { kind: route === undefined ? 'none' : routes[route].function },
      values: {
        total_ms: summary.totalMs,
        first_byte_ms: summary.firstByteMs,
        input_tokens: summary.inputTokens,
        output_tokens: summary.outputTokens,
      },
    },
    ...(limit === undefined ? [] : [{ dimensions: { limit }, values: { limited: 1 } }]),
  ];
};

/** Creates either readable lines for a terminal, or log records and metrics for CloudWatch. */
export const createReporting = (settings: Pick<Settings, 'LOG_FORMAT' | 'FUNCTION_NAME'>): Reporting =>
  settings.LOG_FORMAT === 'line' ? createLineReporting(process) : forServices(settings);

type Writer = { readonly write: (text: string) => unknown };

/** Streams for lines of text. */
export interface Output {
  readonly stdout: Writer;
  readonly stderr: Writer;
}

export const createLineReporting = ({ stdout, stderr }: Output): Reporting => ({
  finished: (requestId, summary) => {
    stdout.write(`${toRequestLine(requestId, summary)}\n`);
    if (summary.cause !== undefined) stderr.write(`  ${JSON.stringify(toCause(summary.cause))}\n`);
  },
  notice: (name, details) => {
    stderr.write(`  ${name} ${JSON.stringify(details)}\n`);
  },
  measured: () => undefined,
});

const forServices = ({ FUNCTION_NAME }: Pick<Settings, 'FUNCTION_NAME'>): Reporting => {
  const logger = new Logger(FUNCTION_NAME === undefined ? {} : { persistentKeys: { 'faas.name': FUNCTION_NAME } });
  const publish = createPublisher();
  return {
    finished: (requestId, summary) => {
      const record = toRequestRecord(requestId, summary);
      if (summary.cause === undefined) logger.info('request', record);
      else logger.error('request', { ...record, cause: toCause(summary.cause) });
      for (const { dimensions, values } of requestMetrics(summary)) publish(values, dimensions);
    },
    notice: (name, details) => {
      logger.warn(name, { ...details });
      publish({ [name]: 1 });
    },
    measured: publish,
  };
};
