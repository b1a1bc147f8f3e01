import { Duration } from 'aws-cdk-lib';
import { GraphWidget, type IMetric, type IWidget, MathExpression, SingleValueWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { ADDED_MS_MAX } from '../../lambdas/core/metrics.ts';
import { functionsOf, hostOf } from '../environment-schema.ts';
import { inferenceFunctionNames } from '../inference-functions.ts';
import type { CompositeRow } from './add-alarms.ts';
import type { AlarmRow, Severity } from './alarm-row.ts';
import type { OwnMetric } from './own-metric.ts';
import type { Sources } from './sources.ts';

const HOUR = 60;
const DAY = 24 * HOUR;
/** Days over which an objective applies. */
const OBJECTIVE_DAYS = 30;

/** Failures below which a window starts no alarm, so that single failures do not count while traffic is low. */
const FAILURES_MIN = 10;

interface Objective {
  /** Prefix of its alarms, and their section in docs/runbook.md. */
  readonly id: string;
  /** Prefix of metric ids, which differ within a graph. */
  readonly short: string;
  readonly title: string;
  /** Number of counted requests of which one may fail: the error budget over 30 days. A whole number keeps rates exact. */
  readonly oneIn: number;
  /** Description of a failure in the plural, for the reason of an alarm. */
  readonly failure: string;
  /** Metrics over periods of some minutes. Failures that are not `counted` have no record. */
  readonly metrics: (minutes: number) => {
    readonly failed: IMetric;
    readonly counted: IMetric;
    readonly unrecorded: readonly IMetric[];
  };
}

/** Returns crashes and timeouts of the functions that serve paid requests. Such a request has no record. */
const crashesOf = ({ environment, api }: Sources, minutes: number): readonly IMetric[] =>
  functionsOf(environment).events.flatMap(({ name }) => {
    const lambda = api.lambdas.get(name);
    const isPaid = inferenceFunctionNames.some((paid) => paid === name) && hostOf(environment, name) === name;
    return lambda && isPaid ? [lambda.metricErrors({ statistic: 'Sum', period: Duration.minutes(minutes) })] : [];
  });

const objectivesOf = (own: OwnMetric, sources: Sources): readonly Objective[] => [
  {
    id: 'availability-burn',
    short: 'paid',
    title: 'paid requests that the gateway did not fail: 99.9 %',
    oneIn: 1_000,
    failure: 'paid requests failed by the fault of the gateway',
    metrics: (minutes) => ({
      failed: own('paid_failed', { minutes }),
      counted: own('paid_failed', { minutes, statistic: 'SampleCount' }),
      unrecorded: crashesOf(sources, minutes),
    }),
  },
  {
    id: 'added-time-burn',
    short: 'added',
    title: `at most ${ADDED_MS_MAX} ms added before the first byte: 99 %`,
    oneIn: 100,
    failure: `paid responses began more than ${ADDED_MS_MAX} ms later than without the gateway`,
    metrics: (minutes) => ({
      failed: own('added_slow', { minutes }),
      counted: own('added_slow', { minutes, statistic: 'SampleCount' }),
      unrecorded: [],
    }),
  },
];

/**
 * Burn rates by the table in https://sre.google/workbook/alerting-on-slos/: a rate of 1 uses the budget of 30 days in
 * exactly 30 days. An alarm needs the long window, so that the loss matters, and the short one, so that it ends soon
 * after the failures. All metrics of one alarm have the same period, so each window is an alarm without a notification.
 */
export const burnWindows = [
  { speed: 'fast', rate: 14.4, long: HOUR, short: 5, severity: 'page' },
  { speed: 'slow', rate: 6, long: 6 * HOUR, short: 30, severity: 'page' },
] as const satisfies readonly { speed: string; rate: number; long: number; short: number; severity: Severity }[];

/** CloudWatch evaluates up to seven days, in periods of at least an hour. */
const trickle = { rate: 1, minutes: 3 * DAY, severity: 'ticket' } as const;

/** Returns the name of a window, such as `5m`, `1h` or `3d`. */
const windowName = (minutes: number): string => {
  if (minutes % DAY === 0) return `${minutes / DAY}d`;
  return minutes % HOUR === 0 ? `${minutes / HOUR}h` : `${minutes}m`;
};

/** Sums of the metrics `<short>0` (failed), `<short>1` (counted) and the unrecorded failures from `<short>2` on. */
const sums = ({ short, metrics }: Objective, minutes: number) => {
  const { failed, counted, unrecorded } = metrics(minutes);
  const all = [failed, counted, ...unrecorded];
  const sumOf = (first: number): string =>
    `SUM([${[first, ...unrecorded.map((_, index) => index + 2)].map((index) => `FILL(${short}${index}, 0)`).join(', ')}])`;
  return {
    failed: sumOf(0),
    counted: sumOf(1),
    usingMetrics: Object.fromEntries(all.map((metric, index) => [`${short}${index}`, metric])),
    period: Duration.minutes(minutes),
  };
};

/** Returns the burn rate of one window, or 0 with fewer failures than `failuresMin`. */
const burnRate = (objective: Objective, minutes: number, failuresMin: number, label = 'burn rate'): MathExpression => {
  const { failed, counted, usingMetrics, period } = sums(objective, minutes);
  const expression = `IF(${failed} >= ${failuresMin}, ${objective.oneIn} * ${failed} / ${counted}, 0)`;
  return new MathExpression({ expression, usingMetrics, period, label });
};

/** Returns the percentage of the budget that is left. */
const budgetLeft = (objective: Objective, minutes: number): MathExpression => {
  const { failed, counted, usingMetrics, period } = sums(objective, minutes);
  const expression = `100 * (1 - ${objective.oneIn} * ${failed} / ${counted})`;
  return new MathExpression({ expression, usingMetrics, period, label: objective.title });
};

/** Alarms on the burn rates of both objectives (OPS-3), and the composite alarms that notify of them. */
export const objectiveAlarms = (
  own: OwnMetric,
  sources: Sources,
): { readonly rows: readonly AlarmRow[]; readonly composites: readonly CompositeRow[] } => {
  const objectives = objectivesOf(own, sources);
  return { rows: objectives.flatMap(windowRows), composites: objectives.flatMap(windowComposites) };
};

const windowRows = (objective: Objective): readonly AlarmRow[] => {
  const { id, failure } = objective;
  const rowOf = (minutes: number, rate: number, failuresMin: number, severity: AlarmRow['severity']): AlarmRow => ({
    id: `${id}-${windowName(minutes)}`,
    section: id,
    severity,
    metric: burnRate(objective, minutes, failuresMin),
    threshold: { least: rate },
    reason: `Within ${windowName(minutes)}, ${failure}, at ${rate} times the rate that the objective allows.`,
  });
  return [
    ...burnWindows.flatMap(({ rate, long, short }) => [
      rowOf(long, rate, FAILURES_MIN, 'none'),
      // The long window has enough failures. This one only shows that they continue.
      rowOf(short, rate, 1, 'none'),
    ]),
    rowOf(trickle.minutes, trickle.rate, FAILURES_MIN, trickle.severity),
  ];
};

const windowComposites = ({ id, failure }: Objective): readonly CompositeRow[] =>
  burnWindows.map(({ speed, rate, long, short, severity }) => ({
    id: `${id}-${speed}`,
    section: id,
    severity,
    needs: { all: [`${id}-${windowName(long)}`, `${id}-${windowName(short)}`] },
    reason: `For ${windowName(long)}, and still in the last ${windowName(short)}, ${failure}, at ${rate} times the rate that the objective allows.`,
  }));

/** Row of a dashboard: burn rates, added time, and what is left of the budgets of 30 days. */
export const objectiveWidgets = (own: OwnMetric, sources: Sources): readonly (readonly IWidget[])[] => {
  const objectives = objectivesOf(own, sources);
  return [
    [
      new SingleValueWidget({
        title: `Left of the error budget of ${OBJECTIVE_DAYS} days, in percent`,
        metrics: objectives.map((objective) => budgetLeft(objective, DAY)),
        setPeriodToTimeRange: true,
        start: `-P${OBJECTIVE_DAYS}D`,
        width: 12,
        height: 6,
      }),
      new GraphWidget({
        title: 'Burn rate within an hour',
        left: objectives.map((objective) => burnRate(objective, HOUR, 1, objective.title)),
        leftAnnotations: burnWindows.map(({ rate }) => ({ value: rate, label: `page at ${rate}` })),
        width: 12,
        height: 6,
      }),
    ],
    [
      new GraphWidget({
        title: 'Time added before the first byte',
        left: (['p50', 'p95'] as const).map((statistic) => own('added_ms', { statistic, label: statistic })),
        leftAnnotations: [{ value: ADDED_MS_MAX, label: 'slow' }],
        width: 24,
        height: 6,
      }),
    ],
  ];
};
