import { Annotations, CfnOutput, Duration, Fn } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import {
  FilterRule,
  FunctionUrlAuthType,
  type IFunction,
  InvokeMode,
  type Function as LambdaFunction,
  type WebFunction,
} from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { routes } from '../../lambdas/routes.ts';
import { AccountChanges } from '../constructs/account-changes.ts';
import { CodeBucket } from '../constructs/code-bucket.ts';
import { GatewayFunction } from '../constructs/gateway-function.ts';
import { GatewayWebFunction } from '../constructs/gateway-web-function.ts';
import { LiveAlias } from '../constructs/live-alias.ts';
import { callsProviders, networkOf, type ProviderNetwork } from '../constructs/provider-network.ts';
import { RestApi } from '../constructs/rest-api.ts';
import { UsageEvents, type UsageEventsProps } from '../constructs/usage-events.ts';
import { type EventFunction, functionsOf, hostOf, type WebFunctionOf } from '../environment-schema.ts';
import type { Environment } from '../environments.ts';
import type { FunctionName, WebFunctionName } from '../functions.ts';
import type { DataStack } from './data-stack.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';
import type { VideoStack } from './video-stack.ts';

export interface ApiStackProps extends GatewayStackProps {
  readonly data: DataStack;
  readonly video: VideoStack;
  /** Created network for calls to providers. */
  readonly network?: ProviderNetwork | undefined;
}

/** Stateless stack with the functions, except those that the state machine calls, and with their triggers. */
export class ApiStack extends GatewayStack {
  /**
   * Hosts by function, for other stacks: the host of the function URL or of the Web Function's endpoint. If `inference`
   * serves all inference, the functions that it replaces have its host. Empty behind API Gateway.
   */
  readonly hosts: ReadonlyMap<FunctionName, string>;
  /** Network of the functions that call providers, if it is not that of AWS. */
  readonly #network: ProviderNetwork | undefined;
  /** Host of each function's own URL or endpoint. */
  readonly #hosts = new Map<FunctionName, string>();
  /** Functions that are called with events. */
  readonly lambdas = new Map<FunctionName, LambdaFunction>();
  readonly webFunctions = new Map<WebFunctionName, WebFunction>();
  /** Undefined unless API Gateway is the front door. */
  readonly restApi: RestApi | undefined;
  /** Queue for account changes whose notification failed, for the operator. */
  readonly failedAccountChanges: Queue;
  /** Queue for charge records whose usage event was not published. Undefined without usage events. */
  readonly failedUsageEvents: Queue | undefined;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const { environment, prefix, data } = props;
    super(scope, id, props, {
      description:
        'Model gateway: the functions that serve requests and work on a schedule, and their URLs and triggers.',
    });
    const { webs, events } = functionsOf(environment);
    this.#network = networkOf(this, environment, props.network);
    this.#addServers(webs, props);
    const built = events
      .filter(({ description }) => description.trigger !== 'machine')
      .map((each) => ({ ...each, ...this.#addFunction(each, props) }));
    if (environment.frontDoor === 'api-gateway') {
      const called = new Map(
        built
          .filter(({ description }) => description.trigger === 'url')
          .map(({ name, called, description: { timeoutSeconds } }) => [name, { lambda: called, timeoutSeconds }]),
      );
      this.restApi = new RestApi(this, 'rest', { prefix, environment, called });
    }
    this.hosts = tellHosts(this, this.#hosts, environment);
    const notices = built.find(({ description }) => description.trigger === 'account-changes');
    if (!notices) throw new Error('No function handles account changes.');
    this.failedAccountChanges = notifyOnChanges(this, { built: notices, data, prefix });
    const usageEvents = built.find(({ description }) => description.trigger === 'charge-records');
    this.failedUsageEvents = usageEvents && publishUsage(this, { built: usageEvents, ...props });
  }

  /** Adds the Web Functions in order: without a front door, links to media use the host of the first one. */
  #addServers(webs: readonly WebFunctionOf[], props: ApiStackProps): void {
    if (webs.length === 0) return;
    const code = new CodeBucket(this, 'web-code', props);
    for (const web of webs) {
      const wiring = this.#wiringOf(web, props);
      const { webFunction } = new GatewayWebFunction(this, { ...props, ...web, ...wiring, code });
      const host = webFunction.endpoint.domainName;
      this.#hosts.set(web.name, host);
      this.webFunctions.set(web.name, webFunction);
      new CfnOutput(this, `${web.name}Url`, { value: `https://${host}/` });
    }
  }

  /** Returns the function, and what its clients call: the function itself or its alias. */
  #addFunction(
    each: EventFunction,
    props: ApiStackProps,
  ): { readonly lambda: LambdaFunction; readonly called: IFunction } {
    const built = new GatewayFunction(this, { ...props, ...each, ...this.#wiringOf(each, props) });
    this.lambdas.set(each.name, built.lambda);
    const { lambda } = built;
    const called = each.name === 'text' ? this.#addTextAlias(built, props) : lambda;
    const { trigger } = each.description;
    if (trigger === 'url' && props.environment.frontDoor !== 'api-gateway')
      this.#hosts.set(each.name, addUrl(this, each.name, called));
    if (trigger === 'every-minute') callEvery(Duration.minutes(1), built);
    if (trigger === 'every-five-minutes') callEvery(Duration.minutes(5), built);
    if (trigger === 'every-hour') callEvery(Duration.hours(1), built);
    return { lambda, called };
  }

  /** Every edge and client of the release before uses the function's own URL until it is updated, so that URL stays. */
  #addTextAlias({ lambda }: GatewayFunction, { environment, prefix }: ApiStackProps): IFunction {
    if (environment.frontDoor !== 'api-gateway') {
      lambda.addFunctionUrl(publicUrl);
      Annotations.of(lambda).acknowledgeWarning(
        '@aws-cdk/aws-lambda:addPermissionsToVersionOrAlias',
        'The URL of the alias has permissions of its own.',
      );
    }
    const { textShift } = environment;
    return new LiveAlias(this, 'text-live', { lambda, functionName: `${prefix}-text`, prefix, textShift }).alias;
  }

  /** Returns settings that depend on other resources. With a front door, links to media use the public URL. */
  #wiringOf({ name, description }: EventFunction | WebFunctionOf, { environment, video }: ApiStackProps) {
    const { startsVideos, linksMedia, checksGateway } = description;
    const directHost = environment.frontDoor === 'cloudfront' && this.#hosts.get(routes.health.function);
    const mediaHost = this.#hosts.get(routes.getMedia.function);
    return {
      machineArn: startsVideos && video.machine.stateMachineArn,
      mediaUrl: linksMedia && environment.frontDoor === 'none' && mediaHost ? `https://${mediaHost}` : undefined,
      directUrl: checksGateway && directHost ? `https://${directHost}` : undefined,
      network: callsProviders(environment, name, description) ? this.#network : undefined,
    };
  }
}

/** A stream, without CORS, for everyone. */
const publicUrl = { authType: FunctionUrlAuthType.NONE, invokeMode: InvokeMode.RESPONSE_STREAM };

/**
 * Adds a function URL. It is public, because SDK clients do not sign requests for AWS and the gateway's API keys
 * control access. Behind an edge, the functions require a header that only the edge knows. CORS stays off here: the
 * functions send its headers, and a URL with CORS would duplicate them.
 */
const addUrl = (stack: ApiStack, name: FunctionName, called: IFunction): string => {
  const url = called.addFunctionUrl(publicUrl);
  new CfnOutput(stack, `${name}Url`, { value: url.url });
  return Fn.select(2, Fn.split('/', url.url));
};

/** Publishes each host as an output. A template that splits a value of another stack would fail cfn-lint (E1017). */
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

/** Calls a function for account changes. Changes that fail after all retries stay in a queue for the operator. */
const notifyOnChanges = (stack: ApiStack, { built, data, prefix }: Omit<UsageEventsProps, 'usageEvents'>): Queue => {
  const { failed } = new AccountChanges(stack, 'account-changes', {
    built,
    data,
    queueName: `${prefix}-failed-account-changes`,
    filter: changedAccounts,
    // Limit both tries and age: an unreachable messenger or an unreadable record would block its shard.
    retryAttempts: 100,
    maxRecordAge: Duration.hours(6),
  });
  new CfnOutput(stack, 'failedAccountChangesUrl', { value: failed.queueUrl });
  return failed;
};

/** Matches changes of accounts with a bot chat. Excludes charge and credit records, and new accounts. */
const changedAccounts = {
  eventName: FilterRule.isEqual('MODIFY'),
  dynamodb: {
    Keys: { sk: { S: FilterRule.isEqual('ACCOUNT') } },
    NewImage: { chat: { S: FilterRule.exists() } },
  },
};

/** Calls a function for new charge records. Returns the queue of those whose event was not published. */
const publishUsage = (
  stack: ApiStack,
  { built, data, prefix, environment: { usageEvents } }: ApiStackProps & Pick<UsageEventsProps, 'built'>,
): Queue => {
  if (!usageEvents) throw new Error('The environment has no usage events.');
  const { failed, busArn } = new UsageEvents(stack, 'usage-events', { built, data, prefix, usageEvents });
  new CfnOutput(stack, 'failedUsageEventsUrl', { value: failed.queueUrl });
  new CfnOutput(stack, 'usageEventBusArn', { value: busArn });
  return failed;
};

/** Schedules a function. Failed calls are not retried, because the next call does the same work soon. */
const callEvery = (time: Duration, built: GatewayFunction): void => {
  const retries = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };
  built.lambda.configureAsyncInvoke(retries);
  new Rule(built, 'schedule', {
    schedule: Schedule.rate(time),
    targets: [new LambdaTarget(built.lambda, retries)],
  });
};
