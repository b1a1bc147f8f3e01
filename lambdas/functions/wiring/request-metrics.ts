import type { RequestMetric } from '../../core/metrics.ts';
import type { Summary } from '../../http/exchange.ts';
import { routes } from '../../routes.ts';
import type { DimensionValues } from './metrics.ts';

export interface RequestMetrics {
  readonly dimensions: DimensionValues;
  readonly values: Readonly<Partial<Record<RequestMetric, number | undefined>>>;
}

/** What the gateway itself, or what it is built on, has failed at. A vendor's own 503 cannot be told from these by its code. */
const ours: ReadonlySet<string> = new Set(['internal_error', 'service_unavailable']);

/** What one request adds to the metrics, by the dimensions that it is counted under. */
export const requestMetrics = (summary: Summary): readonly RequestMetrics[] => {
  const { route, errorCode = 'ok', limit } = summary;
  return [
    { dimensions: {}, values: { failed_by_us: ours.has(errorCode) ? 1 : 0 } },
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
