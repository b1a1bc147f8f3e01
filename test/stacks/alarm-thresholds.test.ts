import { expect, test } from 'vitest';
import { environments, parseEnvironment } from '../../lib/environments.ts';
import { newApp, ofType, synthesize } from './synthesize.ts';

const environment = parseEnvironment({ ...environments.prod, frontDoor: 'none' });
const { operations } = synthesize('prod', newApp({ bundling: false }), environment);
const alarms = new Map(
  ofType(operations, 'AWS::CloudWatch::Alarm').map(({ Properties }) => [String(Properties.AlarmName), Properties]),
);

const [atLeast, below] = ['GreaterThanOrEqualToThreshold', 'LessThanThreshold'];

test.each([
  // Those that `money-is-wrong` is made of.
  ['audit-difference', 1, 1, atLeast, 'notBreaching'],
  ['settle-failures', 3, 1, atLeast, 'notBreaching'],
  ['uncollected', 1_000_000, 1, atLeast, 'notBreaching'],
  ['orphaned-holds', 1, 1, atLeast, 'notBreaching'],
  // Those that silence sets off.
  ['audit-not-run', 1, 3, below, 'breaching'],
  ['audit-not-complete', 1, 1, below, 'breaching'],
  ['outbox-not-run', 1, 2, below, 'breaching'],
  ['sweep-not-run', 1, 2, below, 'breaching'],
  ['video-sweep-not-run', 1, 2, below, 'breaching'],
])('OPS-3 %s goes off at %d, %d times in a row', (id, threshold, periods, comparison, missing) => {
  expect(alarms.get(`gateway-prod-${id}`)).toMatchObject({
    Threshold: threshold,
    EvaluationPeriods: periods,
    DatapointsToAlarm: periods,
    ComparisonOperator: comparison,
    TreatMissingData: missing,
  });
});
