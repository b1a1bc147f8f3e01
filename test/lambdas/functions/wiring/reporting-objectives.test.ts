import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { ADDED_MS_MAX } from '../../../../lambdas/core/metrics.ts';
import { requestMetrics } from '../../../../lambdas/functions/wiring/reporting.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import { recordError } from '../../../../lambdas/http/render-error.ts';

/** Returns the metrics without a dimension of a paid request. */
const metricsOf = (summary: Partial<Summary>) => {
  const [first, ...others] = requestMetrics({ status: 200, route: 'chatCompletions', ...summary });
  expect(others.flatMap(({ values }) => Object.keys(values))).not.toEqual(expect.arrayContaining(['paid_failed']));
  expect(first?.dimensions).toEqual({});
  return first?.values;
};

const failedBy = (error: GatewayError, summary: Partial<Summary> = {}) => {
  const failed: Summary = { status: error.status, route: 'chatCompletions', ...summary };
  recordError(failed, error);
  return metricsOf(failed)?.paid_failed;
};

test.each([
  ['internal_error', {}, 1],
  // The provider rejected the gateway's own key, or a store does not respond.
  ['service_unavailable', {}, 1],
  // The provider's own 503, an unreachable provider or an open circuit.
  ['service_unavailable', { upstreamFailed: true }, 0],
  ['upstream_error', {}, 0],
  ['upstream_timeout', {}, 0],
  ['upstream_capacity', {}, 0],
  ['model_unavailable', {}, 0],
  ['invalid_request_error', {}, undefined],
  ['invalid_api_key', {}, undefined],
  ['insufficient_balance', {}, undefined],
  ['rate_limit_exceeded', {}, undefined],
  ['content_filter', {}, undefined],
] as const)('OPS-3 a paid request that ends as %s %o counts as %s failed', (code, details, counted) => {
  expect(failedBy(new GatewayError(code, '', details))).toBe(counted);
});

test('OPS-3 only paid requests count toward availability', () => {
  expect(metricsOf({})?.paid_failed).toBe(0);
  expect(metricsOf({ dryRun: true })?.paid_failed).toBeUndefined();
  expect(metricsOf({ route: 'getAccount' })?.paid_failed).toBeUndefined();
  expect(failedBy(new GatewayError('internal_error', ''), { route: 'getAccount' })).toBeUndefined();
  expect(requestMetrics({ status: 404, errorCode: 'not_found' })[0]?.values.paid_failed).toBeUndefined();
});

test('OPS-3 the added time is the time to the first byte without upload and provider', () => {
  const added = (summary: Partial<Summary>) => {
    const { added_ms, added_slow } = metricsOf(summary) ?? {};
    return [added_ms, added_slow];
  };
  expect(added({ firstByteMs: 900, uploadMs: 100, providerMs: 700, totalMs: 5_000 })).toEqual([100, 0]);
  expect(added({ firstByteMs: ADDED_MS_MAX + 700, providerMs: 700 })).toEqual([ADDED_MS_MAX, 0]);
  expect(added({ firstByteMs: ADDED_MS_MAX + 701, providerMs: 700 })).toEqual([ADDED_MS_MAX + 1, 1]);
  // A whole response of embeddings.
  expect(added({ totalMs: 260, providerMs: 200 })).toEqual([60, 0]);
  // A clock that was set back.
  expect(added({ firstByteMs: 100, providerMs: 200 })).toEqual([0, 0]);
  // No provider call: a replay, an error or a list.
  expect(added({ firstByteMs: 900 })).toEqual([undefined, undefined]);
  expect(added({ providerMs: 900 })).toEqual([undefined, undefined]);
});
