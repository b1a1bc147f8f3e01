import { expect, test } from 'vitest';
import type { SpanSink } from '../../../../lambdas/functions/wiring/otlp-sink.ts';
import { endpointOf, Tracer } from '../../../../lambdas/functions/wiring/tracing.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';

const endpoint = (environment: Readonly<Record<string, string>>) =>
  endpointOf(readSettings({ ...noTables, ...environment }));

test.each([
  [{}, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, 'http://127.0.0.1:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example/base/' }, 'https://otlp.example/base/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otlp.example/mine' }, 'https://otlp.example/mine'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_TRACES_EXPORTER: 'none' }, undefined],
])('OPS-19 traces of %j go to %s', (environment, url) => {
  expect(endpoint(environment)).toBe(url);
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
])('OPS-19 %s=%s is refused at the start', (name, value) => {
  expect(() => endpoint({ [name]: value })).toThrow(name);
});

const summary = (traceId: string): Summary => ({
  status: 200,
  trace: { traceId, parent: undefined, method: 'GET', startedAtMs: 0, calls: [] },
});

const scene = (flush: SpanSink['flush'] = async () => undefined) => {
  const sent: string[] = [];
  const failures: string[] = [];
  const time = { ms: 1_000_000 };
  const fail = { next: (_failure: string | undefined): void => undefined };
  const ready = Promise.withResolvers<void>();
  const tracer = new Tracer({
    clock: {
      now: () => time.ms,
      after: (delayMs, callback) => {
        const timer = setTimeout(callback, delayMs / 20);
        return () => clearTimeout(timer);
      },
    },
    lookup: () => ({}),
    load: async (onResult) => {
      fail.next = onResult;
      await ready.promise;
      return { send: ({ traceId }) => sent.push(traceId), flush };
    },
    onFailure: (reason) => failures.push(reason),
  });
  return { tracer, sent, failures, time, fail, ready };
};

test('OPS-19 spans of a finished request are built after the response', async () => {
  const { tracer, sent, ready } = scene();
  ready.resolve();
  tracer.take('r1', summary('t1'));
  expect(sent).toEqual([]);
  await tracer.flush(1_000);
  expect(sent).toEqual(['t1']);
});

test('OPS-19 requests that finish before the exporter is loaded are kept, up to a bound', async () => {
  const { tracer, sent, failures, ready } = scene();
  for (let index = 0; index < 5_000; index += 1) tracer.take(`r${index}`, summary(`t${index}`));
  ready.resolve();
  await tracer.flush(1_000);
  expect(sent).toHaveLength(2_048);
  expect(failures).toEqual(['queue_full']);
  tracer.take('later', summary('later'));
  await tracer.flush(1_000);
  expect(sent.at(-1)).toBe('later');
});

test('OPS-19 an exporter that cannot be loaded is reported, and requests go on', async () => {
  const { tracer, failures, ready } = scene();
  ready.reject(new TypeError('with a secret'));
  tracer.take('r1', summary('t1'));
  await tracer.flush(1_000);
  expect(failures).toEqual(['TypeError']);
});

test('OPS-19 a failing collector is reported once in five minutes', async () => {
  const { failures, fail, time } = scene();
  for (let index = 0; index < 100; index += 1) fail.next('ECONNREFUSED');
  fail.next(undefined);
  fail.next('ECONNREFUSED');
  expect(failures).toEqual(['ECONNREFUSED']);
  time.ms += 300_000;
  fail.next('503');
  expect(failures).toEqual(['ECONNREFUSED', '503']);
});

test('OPS-19 an invocation waits at most a second for its spans, and not after a failure', async () => {
  const flushes: number[] = [];
  const { tracer, sent, fail, time, ready } = scene(() => {
    flushes.push(1);
    return new Promise(() => undefined);
  });
  ready.resolve();
  tracer.take('r1', summary('t1'));
  await tracer.flushBeforeFreeze();
  expect(flushes).toHaveLength(1);
  fail.next('ETIMEDOUT');
  tracer.take('r2', summary('t2'));
  await tracer.flushBeforeFreeze();
  expect(flushes).toHaveLength(1);
  expect(sent).toEqual(['t1', 't2']);
  time.ms += 30_000;
  await tracer.flushBeforeFreeze();
  expect(flushes).toHaveLength(2);
});

test('OPS-19 a rejected flush rejects nothing', async () => {
  const { tracer, ready } = scene(() => Promise.reject(new Error('no collector')));
  ready.resolve();
  await expect(tracer.flush(1_000)).resolves.toBeUndefined();
});
