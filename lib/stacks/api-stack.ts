import { CfnOutput, Duration, Fn } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import {
  FunctionUrlAuthType,
  InvokeMode,
  type Function as LambdaFunction,
  type WebFunction,
} from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { routes } from '../../lambdas/routes.ts';
import { AccountChanges, type AccountChangesProps } from '../constructs/account-changes.ts';
import { CodeBucket } from '../constructs/code-bucket.ts';
import { GatewayFunction } from '../constructs/gateway-function.ts';
import { GatewayWebFunction } from '../constructs/gateway-web-function.ts';
import { RestApi } from '../constructs/rest-api.ts';
import { type EventFunction, functionsOf, hostOf, type WebFunctionOf } from '../environment-schema.ts';
import type { Environment } from '../environments.ts';
import type { FunctionDescription } from '../function-description.ts';
import type { FunctionName, WebFunctionName } from '../functions.ts';
import type { DataStack } from './data-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';
import type { VideoStack } from './video-stack.ts';

export interface ApiStackProps extends GatewayStackProps {
  readonly data: DataStack;
  readonly video: VideoStack;
}

/** The functions and what calls them, but for those a state machine calls. Nothing here has state. */
export class ApiStack extends GatewayStack {
  /**
   * Where clients or a front door reach a function, for other stacks: the host of its URL, or of its Web Function's endpoint. What the
   * function `inference` serves alone has that one's. Behind API Gateway nothing has one.
   */
  readonly hosts: ReadonlyMap<FunctionName, string>;
  /** The same for this stack, each with its own. */
  readonly #hosts = new Map<FunctionName, string>();
  /** Those that are called with events. */
  readonly lambdas = new Map<FunctionName, LambdaFunction>();
  readonly webFunctions = new Map<WebFunctionName, WebFunction>();
  /** Where it is the front door. */
  readonly restApi: RestApi | undefined;
  /** Keeps what could not be told of, until somebody looks. */
  readonly failedAccountChanges: Queue;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const { environment, prefix, data } = props;
    super(scope, id, props);
    const { webs, events } = functionsOf(environment);
    this.#addServers(webs, props);
    const built = events
      .filter(({ description }) => description.trigger !== 'machine')
      .map((each) => ({ ...each, lambda: this.#addFunction(each, props).lambda }));
    if (environment.frontDoor === 'api-gateway') {
      const called = new Map(
        built
          .filter(({ description }) => description.trigger === 'url')
          .map(({ name, lambda, description: { timeoutSeconds } }) => [name, { lambda, timeoutSeconds }]),
      );
      this.restApi = new RestApi(this, 'rest', { prefix, environment, called });
    }
    this.hosts = tellHosts(this, this.#hosts, environment);
    const notices = built.find(({ description }) => description.trigger === 'account-changes');
    if (!notices) throw new Error('nobody is told of changes of accounts');
    this.failedAccountChanges = callOnChanges(this, { built: notices, data, prefix });
  }

  /** In this order: the first is where links to media lead to when there is no front door. */
  #addServers(webs: readonly WebFunctionOf[], props: ApiStackProps): void {
    if (webs.length === 0) return;
    const code = new CodeBucket(this, 'web-code', props);
    for (const web of webs) {
      const told = this.#told(web.description, props);
      const { webFunction } = new GatewayWebFunction(this, { ...props, ...web, ...told, code });
      const host = webFunction.endpoint.domainName;
      this.#hosts.set(web.name, host);
      this.webFunctions.set(web.name, webFunction);
      new CfnOutput(this, `${web.name}Url`, { value: `https://${host}/` });
    }
  }

  #addFunction(each: EventFunction, props: ApiStackProps): GatewayFunction {
    const built = new GatewayFunction(this, { ...props, ...each, ...this.#told(each.description, props) });
    this.lambdas.set(each.name, built.lambda);
    const { trigger } = each.description;
    if (trigger === 'url' && props.environment.frontDoor !== 'api-gateway')
      this.#hosts.set(each.name, addUrl(this, each.name, built));
    if (trigger === 'every-minute') callEvery(Duration.minutes(1), built);
    if (trigger === 'every-hour') callEvery(Duration.hours(1), built);
    return built;
  }

  /** What a function cannot know before others stand. With a front door, links begin as everything else does. */
  #told({ startsVideos, linksMedia }: FunctionDescription, { environment, video }: ApiStackProps) {
    const mediaHost = this.#hosts.get(routes.getMedia.function);
    return {
      machineArn: startsVideos && video.machine.stateMachineArn,
      mediaUrl: linksMedia && environment.frontDoor === 'none' && mediaHost ? `https://${mediaHost}` : undefined,
    };
  }
}

/**
 * Open to everyone, because SDK clients do not sign for AWS: the gateway's own keys are what lets a caller in. Once there is an
 * edge, a header only it knows shuts the direct way. The functions answer CORS themselves; a URL that did so too would send
 * each header twice.
 */
const addUrl = (stack: ApiStack, name: FunctionName, { lambda }: GatewayFunction): string => {
  const url = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.RESPONSE_STREAM });
  new CfnOutput(stack, `${name}Url`, { value: url.url });
  return Fn.select(2, Fn.split('/', url.url));
};

/** Whole, as outputs: a template that took what it reads of another stack apart would not pass every check (cfn-lint's E1017). */
const tellHosts = (
  stack: ApiStack,
  hosts: ReadonlyMap<FunctionName, string>,
  environment: Environment,
): ReadonlyMap<FunctionName, string> => {
  const outputOf = (name: FunctionName): string => `${name}HostName`;
  for (const [name, host] of hosts) new CfnOutput(stack, outputOf(name), { value: host });
  return new Map(
    [...hosts.keys()].map((name) => [
      name,
      Fn.getStackOutput(stack.stackName, outputOf(hostOf(environment, name)), environment.region),
    ]),
  );
};

/** What became of nothing, though it was tried again and again, waits in a queue for the operator. */
const callOnChanges = (stack: ApiStack, props: AccountChangesProps): Queue => {
  const { failed } = new AccountChanges(stack, 'account-changes', props);
  new CfnOutput(stack, 'failedAccountChangesUrl', { value: failed.queueUrl });
  return failed;
};

/** A call that failed is not repeated: the next one comes soon and finds the same work. */
const callEvery = (time: Duration, built: GatewayFunction): void => {
  const retries = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };
  built.lambda.configureAsyncInvoke(retries);
  new Rule(built, 'schedule', {
    schedule: Schedule.rate(time),
    targets: [new LambdaTarget(built.lambda, retries)],
  });
};
