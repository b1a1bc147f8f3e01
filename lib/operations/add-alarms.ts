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
  /** Before every alarm's name. */
  readonly prefix: string;
  /** Told when an alarm goes off, and when it is over. */
  readonly topic: ITopic;
}

/** Where an alarm sends whoever it calls. */
const runbookOf = (id: string): string => `docs/runbook.md#${id}`;

/** Answers the alarms by their ids. */
export const addAlarms = (
  scope: Construct,
  { prefix, topic }: AlarmProps,
  rows: readonly AlarmRow[],
): ReadonlyMap<string, Alarm> =>
  new Map(rows.map((row) => [row.id, addAlarm(scope, prefix, new SnsAction(topic), row)]));

const addAlarm = (scope: Construct, prefix: string, action: IAlarmAction, row: AlarmRow): Alarm => {
  const { id, metric, threshold, reason, periods = 1, wrong = periods, silence } = row;
  const isFloor = 'below' in threshold;
  const alarm = new Alarm(scope, id, {
    alarmName: `${prefix}-${id}`,
    alarmDescription: `${reason} ${runbookOf(id)}`,
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

/** Goes off with the first of them, and is over with the last. */
export const addComposite = (
  scope: Construct,
  { prefix, topic }: AlarmProps,
  { id, reason, of }: { readonly id: string; readonly reason: string; readonly of: readonly (Alarm | undefined)[] },
): CompositeAlarm => {
  const rules = of.map((alarm): IAlarmRule => {
    if (!alarm) throw new Error(`${id}: is made of an alarm that there is not`);
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
