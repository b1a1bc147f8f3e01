import { App, Stack } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { expect, test } from 'vitest';
import { environments } from '../../../lib/environments.ts';
import type { AlarmRow } from '../../../lib/operations/alarm-row.ts';
import { burnWindows, objectiveAlarms } from '../../../lib/operations/objectives.ts';
import { ownMetricsOf } from '../../../lib/operations/own-metric.ts';
import type { Sources } from '../../../lib/operations/sources.ts';

const stack = new Stack(new App(), 'stack', { env: { region: 'eu-central-1' } });
const lambdas = new Map(
  ['text', 'images', 'audio', 'videos', 'account'].map((name) => [
    name,
    new LambdaFunction(stack, name, {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('//'),
    }),
  ]),
);
const sourcesOf = (inferenceHost: 'function-url' | 'web-function' = 'function-url') =>
  ({ environment: { ...environments.prod, inferenceHost }, api: { lambdas } }) as unknown as Sources;

const { rows, composites } = objectiveAlarms(ownMetricsOf('prod'), sourcesOf());
const rowOf = (id: string): AlarmRow => {
  const found = rows.find((row) => row.id === id);
  if (!found) throw new Error(`no row ${id}`);
  return found;
};

const mathOf = (metric: IMetric) => {
  const { mathExpression } = metric.toMetricConfig();
  if (!mathExpression) throw new Error('a metric without an expression');
  return mathExpression;
};

/** Counts of one window, by the name and statistic of a metric. Names without a value have no data. */
type Counts = Readonly<Record<string, number>>;

/** Evaluates an expression as CloudWatch does for one period. */
const burnOf = ({ metric }: AlarmRow, counts: Counts): number => {
  const { expression, usingMetrics } = mathOf(metric);
  const countOf = (id: string): number | undefined => {
    const { metricStat } = usingMetrics[id]?.toMetricConfig() ?? {};
    return counts[`${metricStat?.metricName} ${metricStat?.statistic}`];
  };
  const numbers = expression
    .replace(/FILL\(([a-z]+\d), 0\)/g, (_, id: string) => String(countOf(id) ?? 0))
    .replace(/SUM\(\[([\d., ]+)\]\)/g, (_, list: string) =>
      String(list.split(', ').reduce((sum, value) => sum + Number(value), 0)),
    );
  const parts = /^IF\((\S+) >= (\S+), (\S+) \* (\S+) \/ (\S+), 0\)$/.exec(numbers)?.slice(1).map(Number);
  if (!parts) throw new Error(`not understood: ${numbers}`);
  const [compared = 0, least = 0, oneIn = 0, failed = 0, counted = 0] = parts;
  return compared >= least ? (oneIn * failed) / counted : 0;
};

const starts = (id: string, counts: Counts): boolean => {
  const row = rowOf(id);
  if (!('least' in row.threshold)) throw new Error(`${id} has a floor`);
  return burnOf(row, counts) >= row.threshold.least;
};
const paid = (failed: number, counted: number, Errors = 0): Counts => ({
  'paid_failed Sum': failed,
  'paid_failed SampleCount': counted,
  // One value for each of the four functions.
  'Errors Sum': Errors,
});
const slow = (failed: number, counted: number): Counts => ({
  'added_slow Sum': failed,
  'added_slow SampleCount': counted,
});

test.each([
  // The rate of 14.4 is 1.44 % of the requests.
  ['availability-burn-1h', paid(1_440, 100_000), true],
  ['availability-burn-1h', paid(1_430, 100_000), false],
  ['availability-burn-6h', paid(600, 100_000), true],
  ['availability-burn-6h', paid(599, 100_000), false],
  ['availability-burn-3d', paid(100, 100_000), true],
  ['availability-burn-3d', paid(99, 100_000), false],
  ['added-time-burn-1h', slow(14_400, 100_000), true],
  ['added-time-burn-1h', slow(14_300, 100_000), false],
  ['added-time-burn-3d', slow(1_000, 100_000), true],
  ['added-time-burn-3d', slow(999, 100_000), false],
])('OPS-3 the burn rate of %s with %o starts it: %s', (id, counts, result) => {
  expect(starts(id, counts)).toBe(result);
});

test('OPS-3 fewer than ten failures start no alarm on a long window, and no data starts none', () => {
  for (const id of ['availability-burn-1h', 'availability-burn-6h', 'availability-burn-3d']) {
    expect([id, starts(id, paid(9, 9)), starts(id, paid(10, 10)), starts(id, {})]).toEqual([id, false, true, false]);
  }
  for (const id of ['added-time-burn-1h', 'added-time-burn-6h', 'added-time-burn-3d'])
    expect([id, starts(id, slow(9, 9)), starts(id, slow(10, 10)), starts(id, {})]).toEqual([id, false, true, false]);
});

test('OPS-3 one failure keeps the short window going, and a window without failures ends it', () => {
  for (const window of ['5m', '30m']) {
    expect(starts(`availability-burn-${window}`, paid(1, 10))).toBe(true);
    expect(starts(`availability-burn-${window}`, paid(0, 10))).toBe(false);
    expect(starts(`availability-burn-${window}`, {})).toBe(false);
  }
});

test('OPS-3 crashes of functions that serve paid requests count as failures', () => {
  // Four functions with three crashes each, and no request that the program reported as failed.
  expect(burnOf(rowOf('availability-burn-1h'), paid(0, 988, 3))).toBeCloseTo(12);
  const { usingMetrics } = mathOf(rowOf('availability-burn-1h').metric);
  expect(Object.keys(usingMetrics)).toHaveLength(2 + 4);
  const shared = objectiveAlarms(ownMetricsOf('prod'), sourcesOf('web-function')).rows[0];
  expect(Object.keys(shared ? mathOf(shared.metric).usingMetrics : {})).toHaveLength(2);
});

test('OPS-3 a window of every alarm is one that CloudWatch evaluates', () => {
  for (const { metric, periods = 1 } of rows) {
    const { period } = mathOf(metric);
    expect(period % 60).toBe(0);
    expect(period * periods).toBeLessThanOrEqual(period < 3_600 ? 86_400 : 604_800);
    for (const each of Object.values(mathOf(metric).usingMetrics))
      expect(each.toMetricConfig().metricStat?.period.toSeconds()).toBe(period);
  }
});

test('OPS-3 both windows of a burn rate page, and a slow loss over three days is a ticket', () => {
  expect(burnWindows.map(({ rate, long, short }) => [rate, long, short])).toEqual([
    [14.4, 60, 5],
    [6, 360, 30],
  ]);
  expect(composites.map(({ id, severity, needs }) => [id, severity, needs])).toEqual(
    ['availability-burn', 'added-time-burn'].flatMap((id) => [
      [`${id}-fast`, 'page', { all: [`${id}-1h`, `${id}-5m`] }],
      [`${id}-slow`, 'page', { all: [`${id}-6h`, `${id}-30m`] }],
    ]),
  );
  expect(rows.filter(({ severity }) => severity !== 'none').map(({ id, severity }) => [id, severity])).toEqual([
    ['availability-burn-3d', 'ticket'],
    ['added-time-burn-3d', 'ticket'],
  ]);
});
