import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IAlarm, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { Alias, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { moneyAlarmIds } from '../operations/money-alarms.ts';

/** Name of the alias. */
const LIVE = 'live';

/** Errors within a minute that end a shift: a single one can be the timeout of a request. */
const ERRORS_MIN = 2;

const shifts = {
  canary: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  linear: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
} as const;

export interface LiveAliasProps {
  readonly lambda: LambdaFunction;
  /** Name of the function in AWS. */
  readonly functionName: string;
  /** Prefix of every name in AWS. */
  readonly prefix: string;
  readonly textShift: Environment['textShift'];
}

/**
 * Alias of a function, which clients call. It exists in every environment, so that its URL does not change with the
 * setting. With a shift, CodeDeploy moves requests to a new version step by step, and back if an alarm starts.
 */
export class LiveAlias extends Construct {
  readonly alias: Alias;

  constructor(scope: Construct, id: string, props: LiveAliasProps) {
    super(scope, id);
    const { lambda, textShift } = props;
    this.alias = lambda.addAlias(LIVE);
    // An operator can move the alias back to a version that is still there. A version that was rolled back is deleted:
    // Lambda publishes no second version of the same code, so that a repeated deployment would fail.
    lambda.currentVersion.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
    if (textShift !== 'off') this.#addShift(props, shifts[textShift]);
  }

  #addShift({ lambda, functionName, prefix }: LiveAliasProps, deploymentConfig: (typeof shifts)['canary']): void {
    const failing = new Alarm(this, 'new-version', {
      alarmName: `${functionName}-new-version`,
      alarmDescription:
        'The version that takes over crashes or times out, so CodeDeploy moves requests back. docs/operations/deployment.md#update-and-roll-back',
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        // The version is the new one, because CloudFormation updates the alarm before the alias.
        dimensionsMap: {
          FunctionName: functionName,
          Resource: `${functionName}:${LIVE}`,
          ExecutedVersion: lambda.currentVersion.version,
        },
        statistic: Stats.SUM,
        period: Duration.minutes(1),
      }),
      threshold: ERRORS_MIN,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const group = new LambdaDeploymentGroup(this, 'shift', {
      application: new LambdaApplication(this, 'application', { applicationName: functionName }),
      deploymentGroupName: functionName,
      alias: this.alias,
      deploymentConfig,
      alarms: [failing, ...this.#moneyAlarms(prefix)],
    });
    // The alias names the group in its update policy only, which is not a dependency.
    this.alias.node.addDependency(group);
  }

  /**
   * Alarms of the operations stack, which is deployed later. So they are named, not referenced. The first deployment
   * creates the alias without a shift, and the alarms exist before the second one.
   */
  #moneyAlarms(prefix: string): readonly IAlarm[] {
    return moneyAlarmIds.map((id) => Alarm.fromAlarmName(this, id, `${prefix}-${id}`));
  }
}
