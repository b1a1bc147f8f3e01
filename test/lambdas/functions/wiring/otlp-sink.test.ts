import { afterAll, beforeEach, expect, test } from 'vitest';
import { type OtlpOptions, openOtlpSink } from '../../../../lambdas/functions/wiring/otlp-sink.ts';
import type { SpanData } from '../../../../lambdas/functions/wiring/trace-spans.ts';
import type { RequestTrace, TraceParent } from '../../../../lambdas/http/request-trace.ts';
import { startCollector } from '../../../support/otlp-collector.ts';

const collector = await startCollector();
beforeEach(() => collector.clear());
afterAll(() => collector.stop());

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const span: SpanData = {
  name: 'GET /health',
  kind: 'server',
  startMs: 1_795_000_000_001,
  endMs: 1_795_000_000_010,
  attributes: { 'http.route': '/health', 'gateway.replayed': undefined },
  failed: false,
};

const open = (options: Partial<OtlpOptions> = {}) => {
  const results: (string | undefined)[] = [];
  const sink = openOtlpSink({
    url: `${collector.url}/v1/traces`,
    serviceName: 'gateway-test',
    functionName: 'gateway-test-text',
    sampler: 'parentbased_always_on',
    ratio: 1,
    onResult: (failure) => results.push(failure),
    ...options,
  });
  const send = async (parent?: TraceParent) => {
    const trace: RequestTrace = { traceId: TRACE, parent, method: 'GET', startedAtMs: 0, calls: [] };
    sink.send(trace, { root: span, parts: [{ ...span, name: 'hold', kind: 'internal', failed: true }] });
    await sink.flush().catch(() => undefined);
    return collector.spans();
  };
  return { send, results, sink };
};

test('OPS-19 spans have the id of the request, their own times and the names of the service', async () => {
  const { send, results } = open();
  const [hold, root] = await send();
  expect(root).toMatchObject({
    traceId: TRACE,
    startTimeUnixNano: '1795000000001000000',
    endTimeUnixNano: '1795000000010000000',
    attributes: { 'http.route': '/health' },
  });
  expect(Object.keys(root?.attributes ?? {})).toEqual(['http.route']);
  expect(hold).toMatchObject({ parentSpanId: root?.spanId, status: { code: 2 } });
  expect(collector.resources()[0]?.resource.attributes).toEqual({
    'service.name': 'gateway-test',
    'faas.name': 'gateway-test-text',
  });
  expect(results).toEqual([undefined]);
});

test.each([
  ['parentbased_always_on', 1, undefined, 2],
  ['parentbased_always_on', 1, false, 0],
  ['parentbased_always_off', 1, undefined, 0],
  ['parentbased_always_off', 1, true, 2],
  ['parentbased_traceidratio', 0, undefined, 0],
  ['traceidratio', 0, true, 0],
  ['always_on', 1, false, 2],
  ['always_off', 1, true, 0],
] as const)(
  'OPS-19 the sampler %s of %d exports a client that samples %s as %d spans',
  async (sampler, ratio, sampled, count) => {
    const { send } = open({ sampler, ratio });
    const parent = sampled === undefined ? undefined : { traceId: TRACE, spanId: 'b7ad6b7169203331', sampled };
    expect(await send(parent)).toHaveLength(count);
  },
);

test('OPS-19 a rejected batch is reported by its status alone', async () => {
  collector.answer.status = 400;
  const { send, results } = open();
  await send();
  expect(results).toEqual(['400']);
  collector.answer.status = 200;
});

test('OPS-19 a burst of spans is bounded by the queue, and later spans are exported', async () => {
  const { sink, send } = open();
  const trace: RequestTrace = { traceId: TRACE, parent: undefined, method: 'GET', startedAtMs: 0, calls: [] };
  for (let count = 0; count < 10_000; count += 1) sink.send(trace, { root: span, parts: [] });
  await sink.flush();
  const exported = collector.spans().length;
  expect(exported).toBeGreaterThanOrEqual(4_096);
  // One batch may be on its way while the queue fills.
  expect(exported).toBeLessThanOrEqual(4_096 + 512);
  collector.clear();
  expect(await send()).toHaveLength(2);
});
