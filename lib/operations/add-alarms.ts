import {
  Alarm,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarmRule,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { Construct } from 'constructs';
import type { AlarmRow, Severity } from './alarm-row.ts';
import type { AlarmTopics } from './alarm-topics.ts';

export interface AlarmProps {
  /** Prefix of every alarm's name. */
  readonly prefix: string;
  /** Topics that are notified when an alarm starts and when it ends. */
  readonly topics: AlarmTopics;
  /** Whether alarms notify their topics. False until the first check of the environment has passed. */
  readonly actionsEnabled: boolean;
}

/** Returns the runbook section of an alarm. */
const runbookOf = (id: string): string => `docs/runbook.md#${id}`;

/** Adds the alarms. Returns them by id. */
export const addAlarms = (scope: Construct, props: AlarmProps, rows: readonly AlarmRow[]): ReadonlyMap<string, Alarm> =>
  new Map(rows.map((row) => [row.id, addAlarm(scope, props, row)]));

const addAlarm = (scope: Construct, props: AlarmProps, row: AlarmRow): Alarm => {
  const { id, section = id, severity, metric, threshold, reason, periods = 1, wrong = periods, silence } = row;
  const isFloor = 'below' in threshold;
  const alarm = new Alarm(scope, id, {
    alarmName: `${props.prefix}-${id}`,
    alarmDescription: `${reason} ${runbookOf(section)}`,
    actionsEnabled: props.actionsEnabled,
    metric,
    threshold: isFloor ? threshold.below : threshold.least,
    comparisonOperator: isFloor
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: periods,
    datapointsToAlarm: wrong,
    treatMissingData: silence === 'wrong' ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  });
  if (severity !== 'none') notify(alarm, props, severity);
  return alarm;
};

const notify = (alarm: Alarm | CompositeAlarm, { topics }: AlarmProps, severity: Severity): void => {
  const action = new SnsAction(topics[severity]);
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
};

/** Alarm on the states of other alarms, as data. */
export interface CompositeRow extends Pick<AlarmRow, 'id' | 'section' | 'reason'> {
  readonly severity: Severity;
  /** Ids of the alarms, of which all or at least one must have started. */
  readonly needs: { readonly all: readonly string[] } | { readonly any: readonly string[] };
}

/** Adds an alarm that starts and ends with the given alarms. Throws an Error if one of them does not exist. */
export const addComposite = (
  scope: Construct,
  props: AlarmProps,
  alarms: ReadonlyMap<string, Alarm>,
  { id, section = id, severity, reason, needs }: CompositeRow,
): CompositeAlarm => {
  const ruleOf = (needed: string): IAlarmRule => {
    const alarm = alarms.get(needed);
    if (!alarm) throw new Error(`${id}: the alarm ${needed} does not exist.`);
    return AlarmRule.fromAlarm(alarm, AlarmState.ALARM);
  };
  const composite = new CompositeAlarm(scope, id, {
    compositeAlarmName: `${props.prefix}-${id}`,
    alarmDescription: `${reason} ${runbookOf(section)}`,
    actionsEnabled: props.actionsEnabled,
    alarmRule: 'all' in needs ? AlarmRule.allOf(...needs.all.map(ruleOf)) : AlarmRule.anyOf(...needs.any.map(ruleOf)),
  });
  notify(composite, props, severity);
  return composite;
};
