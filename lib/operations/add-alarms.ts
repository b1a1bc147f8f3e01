import {
  Alarm,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarmAction,
  type IAlarmRule,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { AlarmRow } from './alarm-row.ts';

export interface AlarmProps {
  /** Prefix of every alarm's name. */
  readonly prefix: string;
  /** Topic that is notified when an alarm starts and when it ends. */
  readonly topic: ITopic;
}

/** Returns the runbook section of an alarm. */
const runbookOf = (id: string): string => `docs/runbook.md#${id}`;

/** Adds the alarms. Returns them by id. */
export const addAlarms = (
  scope: Construct,
  { prefix, topic }: AlarmProps,
  rows: readonly AlarmRow[],
): ReadonlyMap<string, Alarm> =>
  new Map(rows.map((row) => [row.id, addAlarm(scope, prefix, new SnsAction(topic), row)]));

const addAlarm = (scope: Construct, prefix: string, action: IAlarmAction, row: AlarmRow): Alarm => {
  const { id, section = id, metric, threshold, reason, periods = 1, wrong = periods, silence } = row;
  const isFloor = 'below' in threshold;
  const alarm = new Alarm(scope, id, {
    alarmName: `${prefix}-${id}`,
    alarmDescription: `${reason} ${runbookOf(section)}`,
    metric,
    threshold: isFloor ? threshold.below : threshold.least,
    comparisonOperator: isFloor
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    evaluationPeriods: periods,
    datapointsToAlarm: wrong,
    treatMissingData: silence === 'wrong' ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
  });
  alarm.addAlarmAction(action);
  alarm.addOkAction(action);
  return alarm;
};

/** Adds an alarm that starts with the first of the given alarms and ends with the last one. */
export const addComposite = (
  scope: Construct,
  { prefix, topic }: AlarmProps,
  { id, reason, of }: { readonly id: string; readonly reason: string; readonly of: readonly (Alarm | undefined)[] },
): CompositeAlarm => {
  const rules = of.map((alarm): IAlarmRule => {
    if (!alarm) throw new Error(`${id}: one of its alarms does not exist.`);
    return AlarmRule.fromAlarm(alarm, AlarmState.ALARM);
  });
  const composite = new CompositeAlarm(scope, id, {
    compositeAlarmName: `${prefix}-${id}`,
    alarmDescription: `${reason} ${runbookOf(id)}`,
    alarmRule: AlarmRule.anyOf(...rules),
  });
  const action = new SnsAction(topic);
  composite.addAlarmAction(action);
  composite.addOkAction(action);
  return composite;
};
