import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { limitNames } from '../../../../lambdas/core/errors/gateway-error.ts';
import { METRIC_NAMESPACE, type MetricName, metrics, operationalEvents } from '../../../../lambdas/core/metrics.ts';

/** Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
const metricSchema = z.looseObject({
  _aws: z.strictObject({
    Timestamp: z.int().positive(),
    CloudWatchMetrics: z.tuple([
      z.strictObject({
        Namespace: z.literal(METRIC_NAMESPACE),
        Dimensions: z.tuple([z.array(z.string()).min(1).max(30)]),
        Metrics: z.array(z.strictObject({ Name: z.string(), Unit: z.string() })).min(1),
      }),
    ]),
  }),
});

const child = (environment: Readonly<Record<string, string>> = {}): readonly Record<string, unknown>[] => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(import.meta.dirname, 'log-everything.ts')], {
    env: { PATH: process.env.PATH, POWERTOOLS_SERVICE_NAME: 'gateway-test', ...environment },
    encoding: 'utf8',
  });
  expect({ status, bug: status === 0 ? '' : stderr }).toEqual({ status: 0, bug: '' });
  return `${stdout}${stderr}`
    .split('\n')
    .filter(Boolean)
    .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
};

const trace = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
const lines = child({ _X_AMZN_TRACE_ID: trace });
const emitted = lines
  .filter((line) => '_aws' in line)
  .flatMap((line) => {
    const [{ Dimensions, Metrics }] = metricSchema.parse(line)._aws.CloudWatchMetrics;
    return Metrics.map(({ Name, Unit }) => ({ line, name: Name, unit: Unit, dimensions: Dimensions[0] }));
  });
const records = lines.filter((line) => !('_aws' in line));

test('OPS-3 every metric of the metrics table is emitted, and no other', () => {
  expect(new Set(emitted.map(({ name }) => name))).toEqual(new Set<string>(metrics.keys()));
});

test('OPS-3 each metric has the unit and dimensions of the table, with values, and the service', () => {
  for (const { line, name, unit, dimensions } of emitted) {
    const row = new Map<string, ReturnType<typeof metrics.get>>(metrics).get(name);
    expect({ name, unit, dimensions: dimensions.toSorted() }).toEqual({
      name,
      unit: row?.unit,
      dimensions: [...(row?.dimensions ?? []), 'service'].toSorted(),
    });
    expect(typeof line[name]).toBe('number');
    for (const dimension of dimensions) expect(typeof line[dimension]).toBe('string');
    expect(line.service).toBe('gateway-test');
  }
});

const valuesOf = (metric: MetricName, dimension: string): readonly unknown[] =>
  emitted.filter(({ name }) => name === metric).map(({ line }) => [line[dimension], line[metric]]);

test('OPS-3 a request is counted by its code, its function and the limit that rejected it', () => {
  expect(valuesOf('requests', 'code').slice(0, 4)).toEqual([
    ['ok', 1],
    ['not_found', 1],
    ['internal_error', 1],
    ['rate_limit_exceeded', 1],
  ]);
  expect(valuesOf('failed_by_us', 'service').map((value) => [value].flat()[1])).toEqual([
    ...[0, 0, 1],
    ...limitNames.map(() => 0),
  ]);
  expect(valuesOf('total_ms', 'kind')).toEqual([
    ['text', 11],
    ['none', 1],
    ['none', 1],
  ]);
  expect(valuesOf('output_tokens', 'kind')).toEqual([['text', 5]]);
  expect(valuesOf('limited', 'limit').map((value) => [value].flat()[0])).toEqual([...limitNames]);
});

test('OPS-3 every operational event is logged under its name, with environment and trace', () => {
  const messages = records.map(({ message }) => message).filter((message) => message !== 'request');
  expect(messages).toEqual([...operationalEvents]);
  for (const record of records)
    expect(record).toMatchObject({
      service: 'gateway-test',
      'faas.name': 'gateway-test-text',
      xray_trace_id: '1-5759e988-bd862e3fe1be46a994272793',
    });
  expect(records.find((record) => record['gateway.request.id'] === 'REQUEST1')).toMatchObject({
    'http.route': '/v1/chat/completions',
    'gen_ai.request.model': 'alpha-1',
    'gen_ai.usage.input_tokens': 3,
    'gen_ai.usage.output_tokens': 5,
  });
});

test('ERR-5 OPS-3 a cause is logged with its name and place, without its message', () => {
  expect(JSON.stringify(lines)).not.toContain('a secret message');
  expect(records.find((record) => record['gateway.request.id'] === 'REQUEST3')).toMatchObject({
    level: 'ERROR',
    cause: { name: 'Error', place: expect.stringContaining('log-everything.ts') },
  });
});
