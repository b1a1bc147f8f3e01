import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { FunctionUrlAuthType, InvokeMode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { routes } from '../../lambdas/routes.ts';
import { AccountChanges, type AccountChangesProps } from '../constructs/account-changes.ts';
import { CodeBucket } from '../constructs/code-bucket.ts';
import { GatewayFunction } from '../constructs/gateway-function.ts';
import { GatewayWebFunction } from '../constructs/gateway-web-function.ts';
import type { Environment } from '../environments.ts';
import { eventFunctionNames, type FunctionName, functions, webFunctionNames } from '../functions.ts';
import type { DataStack } from './data-stack.ts';
import type { VideoStack } from './video-stack.ts';

export interface ApiStackProps {
  readonly environment: Environment;
  /** Before the stack's name and every function's. */
  readonly prefix: string;
  readonly data: DataStack;
  readonly video: VideoStack;
}

/** The functions and what calls them, but for those a state machine calls. Nothing here has state. */
export class ApiStack extends Stack {
  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const { environment, prefix, data, video } = props;
    super(scope, id, { stackName: `${prefix}-${id}`, terminationProtection: environment.terminationProtection });
    const machineFor = (name: FunctionName) =>
      functions[name].startsVideos ? video.machine.stateMachineArn : undefined;
    const code = new CodeBucket(this, 'web-code', { prefix, environment });
    const addresses = new Map<FunctionName, string>();
    for (const name of webFunctionNames) {
      const machineArn = machineFor(name);
      const { webFunction } = new GatewayWebFunction(this, { name, prefix, environment, data, machineArn, code });
      addresses.set(name, `https://${webFunction.endpoint.domainName}`);
      new CfnOutput(this, `${name}Url`, { value: `https://${webFunction.endpoint.domainName}/` });
    }
    const mediaUrl = addresses.get(routes.getMedia.function);
    for (const name of eventFunctionNames) {
      const { trigger, linksMedia } = functions[name];
      if (trigger === 'machine') continue;
      const told = { machineArn: machineFor(name), mediaUrl: linksMedia && mediaUrl };
      const built = new GatewayFunction(this, { name, prefix, environment, data, ...told });
      if (trigger === 'url') addUrl(this, name, built);
      else if (trigger === 'account-changes') callOnChanges(this, { built, data, prefix });
      else callEveryMinute(built);
    }
  }
}

/**
 * Open to everyone, because SDK clients do not sign for AWS: the gateway's own keys are what lets a caller in. Once there is an
 * edge, a header only it knows shuts the direct way. The functions answer CORS themselves; a URL that did so too would send
 * each header twice.
 */
const addUrl = (stack: ApiStack, name: FunctionName, { lambda }: GatewayFunction): void => {
  const url = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.RESPONSE_STREAM });
  new CfnOutput(stack, `${name}Url`, { value: url.url });
};

/** What became of nothing, though it was tried again and again, waits in a queue for the operator. */
const callOnChanges = (stack: ApiStack, props: AccountChangesProps): void => {
  const { failed } = new AccountChanges(stack, 'account-changes', props);
  new CfnOutput(stack, 'failedAccountChangesUrl', { value: failed.queueUrl });
};

/** A call that failed is not repeated: the next one comes within the minute and finds the same work. */
const callEveryMinute = (built: GatewayFunction): void => {
  built.lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
  new Rule(built, 'schedule', {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaTarget(built.lambda, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
  });
};
