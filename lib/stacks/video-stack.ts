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
import { functions } from '../functions.ts';
import { definitionPath, toSubstitutions } from '../video/definition.ts';
import type { DataStack } from './data-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

export interface VideoStackProps extends GatewayStackProps {
  readonly data: DataStack;
}

/** What brings videos to their end: the state machine, the function that does its steps, and the rule for executions that fail. */
export class VideoStack extends GatewayStack {
  readonly machine: StateMachine;
  /** Does its steps. */
  readonly steps: LambdaFunction;

  constructor(scope: Construct, id: string, props: VideoStackProps) {
    super(scope, id, props);
    const steps = new GatewayFunction(this, { ...props, name: 'videoSteps', description: functions.videoSteps });
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
    // An execution per id, and once: an EXPRESS machine promises neither.
    stateMachineType: StateMachineType.STANDARD,
    definitionBody: DefinitionBody.fromFile(definitionPath),
    definitionSubstitutions: { ...toSubstitutions({ stepFunctionArn, settings: environment.videos }) },
    role,
    tracingEnabled: true,
    logs: { destination: addMachineLog(stack, props), level: LogLevel.ERROR, includeExecutionData: false },
  });
};

/** Groups with this beginning share one policy that AWS keeps; others fill up the account's own, which is small. */
const addMachineLog = (stack: Stack, { environment, prefix }: VideoStackProps): LogGroup =>
  addLogGroup(stack, `/aws/vendedlogs/states/${prefix}-videos`, environment, 'machine-log');

/**
 * An execution that ended in any way but its own is followed by the release step: an execution has the name of its video. Such events
 * are delivered as best AWS can; what is lost here is found by the sweep of videos.
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
