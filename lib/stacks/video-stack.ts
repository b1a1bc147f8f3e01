import { Duration, type Stack } from 'aws-cdk-lib';
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { addLogGroup, allow } from '../constructs/function-role.ts';
import { GatewayFunction } from '../constructs/gateway-function.ts';
import { networkOf, type ProviderNetwork } from '../constructs/provider-network.ts';
import { functions } from '../functions.ts';
import { definitionPath, toSubstitutions } from '../video/definition.ts';
import type { DataStack } from './data-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

export interface VideoStackProps extends GatewayStackProps {
  readonly data: DataStack;
  /** Created network for calls to providers. */
  readonly network?: ProviderNetwork | undefined;
}

/** State machine for videos, the function for its steps, and the rule for failed executions. */
export class VideoStack extends GatewayStack {
  readonly machine: StateMachine;
  /** Function that runs the steps. */
  readonly steps: LambdaFunction;

  constructor(scope: Construct, id: string, props: VideoStackProps) {
    super(scope, id, props, {
      description:
        'Model gateway: the state machine that runs videos, the function of its steps and the rule for failed executions.',
    });
    const steps = new GatewayFunction(this, {
      ...props,
      network: networkOf(this, props.environment, props.network),
      name: 'videoSteps',
      description: functions.videoSteps,
    });
    this.steps = steps.lambda;
    this.machine = addMachine(this, props, steps);
    releaseUnfinished(this, this.machine, steps);
  }
}

const addMachine = (stack: Stack, props: VideoStackProps, { lambda }: GatewayFunction): StateMachine => {
  const { environment, prefix } = props;
  const stepFunctionArn = lambda.functionArn;
  const role = new Role(stack, 'machine-role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
  role.addToPolicy(allow(['lambda:InvokeFunction'], stepFunctionArn));
  return new StateMachine(stack, 'machine', {
    stateMachineName: `${prefix}-videos`,
    // STANDARD runs exactly one execution per name. EXPRESS does not guarantee that.
    stateMachineType: StateMachineType.STANDARD,
    definitionBody: DefinitionBody.fromFile(definitionPath),
    definitionSubstitutions: { ...toSubstitutions({ stepFunctionArn, settings: environment.videos }) },
    role,
    tracingEnabled: true,
    logs: { destination: addMachineLog(stack, props), level: LogLevel.ERROR, includeExecutionData: false },
  });
};

/**
 * Adds the log group. Groups with this prefix share one resource policy that AWS maintains; others count toward the
 * account's small limit.
 */
const addMachineLog = (stack: Stack, { environment, prefix }: VideoStackProps): LogGroup =>
  addLogGroup(stack, `/aws/vendedlogs/states/${prefix}-videos`, environment, 'machine-log');

/**
 * Calls the release step for failed, timed-out and aborted executions. An execution has its video's id as its name. AWS
 * delivers these events on a best-effort basis; the video sweep finds videos whose events were lost.
 */
const releaseUnfinished = (stack: Stack, machine: StateMachine, { lambda }: GatewayFunction): void => {
  lambda.configureAsyncInvoke({ retryAttempts: 2, maxEventAge: Duration.hours(1) });
  new Rule(stack, 'unfinished', {
    eventPattern: {
      source: ['aws.states'],
      detailType: ['Step Functions Execution Status Change'],
      detail: { status: ['FAILED', 'TIMED_OUT', 'ABORTED'], stateMachineArn: [machine.stateMachineArn] },
    },
    targets: [
      new LambdaTarget(lambda, {
        event: RuleTargetInput.fromObject({ step: 'release', videoId: EventField.fromPath('$.detail.name') }),
        retryAttempts: 10,
        maxEventAge: Duration.hours(1),
      }),
    ],
  });
};
