import type { EventFunctionName } from './functions.ts';

/** Environment as its owner writes it, in `gateway.config.ts` or as props of `GatewayStage`. */
export interface EnvironmentOptions {
  /** Region of all resources, such as `eu-central-1`, except those that CloudFront requires in us-east-1. */
  readonly region: string;
  /**
   * AWS account: 12 digits, or `any`. Deployments and the command line reject credentials for another account, and an
   * environment without this field. Synthesis does not need it.
   */
  readonly account?: string;
  /**
   * ARN of the customer-managed KMS key with which `cdk bootstrap` encrypts the bucket of assets. Default: S3 manages
   * the key.
   */
  readonly bootstrapKeyArn?: string;
  /** Service in front of the functions. docs/operations/deployment.md compares them. Default: `cloudfront`. */
  readonly frontDoor?: 'cloudfront' | 'api-gateway' | 'none';
  /** Domain for clients. Default: the AWS host name of the front door. */
  readonly domain?: DomainOptions;
  /**
   * Network from which the functions that call providers start their connections. Default: that of AWS Lambda, without a
   * fixed address.
   */
  readonly network?: CreatedNetworkOptions | ExistingNetworkOptions;
  /**
   * Maximum silence of a response behind CloudFront, 30 to 600 seconds. Above 120, request a higher quota from AWS.
   * Default: 120.
   */
  readonly edgeTimeoutSeconds?: number;
  /** Whether a slow JSON response starts before its status is known (ERR-6). Default: true. */
  readonly edgeJsonKeepAlive?: boolean;
  /**
   * Host for bodies that are too large for a function URL. With `off`, AWS rejects such bodies with its own error.
   * Ignored behind API Gateway, where an event is limited to 6 MB. Default: `web-function`.
   */
  readonly largeBodies?: 'web-function' | 'off';
  /**
   * Host of inference: one execution environment per request, or many requests in one (docs/operations/costs.md).
   * Default: `function-url`.
   */
  readonly inferenceHost?: 'function-url' | 'web-function';
  /** Client limits (LIM-1, LIM-2). */
  readonly limits?: LimitOptions;
  /**
   * Firewall limit of requests per client IP in 60 seconds (OPS-2), 10 to 2,000,000,000. It must be high enough for
   * `limits`. Default: 2,400.
   */
  readonly firewallRequestsPerMinute?: number;
  /** Ids of the companies whose models are served, such as `openai`. Default: all. */
  readonly catalogs?: readonly string[];
  /** Recipients of alarms, by severity. Default: none. */
  readonly alarms?: { readonly page?: AlarmTargetOptions; readonly ticket?: AlarmTargetOptions };
  /** Whether alarms notify their recipients. Set it once the first check of the environment has passed. Default: false. */
  readonly alarmActions?: boolean;
  /**
   * Whether a function checks the gateway every five minutes, with an alarm (OPS-13). Ignored without a front door.
   * Default: false.
   */
  readonly canary?: boolean;
  /**
   * Shift of requests to a new version of the text function (OPS-17). `canary`: 10 % for 5 minutes, then all. `linear`:
   * 10 % more each minute. Default: `off`.
   */
  readonly textShift?: 'off' | 'canary' | 'linear';
  /**
   * Minutes, 0 to 180, for which CloudFormation watches the money alarms after it updated the functions, to roll them
   * back (OPS-17). Default: not at all.
   */
  readonly rollbackMinutes?: number;
  /** Export of traces (OPS-19, docs/operations/tracing.md). Default: none. */
  readonly tracing?: XrayTracingOptions | LayerTracingOptions | OtlpTracingOptions;
  /** Monthly bill of the whole AWS account in USD above which AWS sends an alarm. Default: no alarm. */
  readonly budgetUsdPerMonth?: number;
  /** Log retention in days: a period that CloudWatch supports, up to two years. */
  readonly logRetentionDays: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 120 | 150 | 180 | 365 | 400 | 545 | 731;
  /** Whether tables and secrets outlive their stack, with deletion protection. If false, they are deleted with it. */
  readonly keepsData: boolean;
  /** Whether CloudFormation refuses to delete the stacks until an operator turns this off. */
  readonly terminationProtection: boolean;
  /** Factor on every list price: a decimal above 0, such as `1.25` (BILL-3). */
  readonly markup: string;
  /**
   * Form of new holds in the account items. `map` for one deployment of an environment whose present release reads only
   * that form, and before a rollback to such a release. Default: `packed`.
   */
  readonly holdFormat?: 'packed' | 'map';
  /** Tables that replace those of the stack after a restore (docs/operations/restore.md). Default: none. */
  readonly restored?: RestoredOptions;
  /**
   * Allowance in USD of an account and UTC day for requests that end without a charge, as a decimal (BILL-21).
   * Default: `1`.
   */
  readonly uncollectedDailyUsd?: string;
  /**
   * EventBridge bus for receipts (docs/operations/usage-events.md): `{ kind: 'created' }`, or an existing one. Default:
   * none, and no events.
   */
  readonly usageEvents?: { readonly kind: 'created' } | { readonly kind: 'existing'; readonly eventBusArn: string };
  /**
   * Public URL that the bot shows: https, without a path. Default: the URL of the domain, or else that of the front
   * door.
   */
  readonly publicUrl?: string;
  readonly bot?: BotOptions;
  /** Memory per function in MB, 128 to 10,240. A Web Function always has 2 GB. Default: that in `lib/functions.ts`. */
  readonly memoryMb?: Readonly<Partial<Record<EventFunctionName, number>>>;
  /**
   * Reserved concurrency per function: a guarantee and a maximum, taken from the account's shared concurrency. AWS
   * requires 100 unreserved executions. Not available for a Web Function. Default: none.
   */
  readonly reservedConcurrency?: Readonly<Partial<Record<EventFunctionName, number>>>;
  /** Times of videos in seconds (VID-7). Synthesis rejects times that contradict each other. */
  readonly videos?: VideoTimeOptions;
}

/**
 * Domain of the gateway, with a `hostedZone`, a `certificateArn` or both. A new certificate is validated in the hosted
 * zone, unless `certificateArn` names an existing one.
 */
export interface DomainOptions {
  /** Host name, such as `api.example.com`. */
  readonly name: string;
  /** Route 53 zone for the validation of the certificate and for the DNS records of the gateway. Default: none. */
  readonly hostedZone?: { readonly id: string; readonly name: string };
  /**
   * Certificate in us-east-1 behind CloudFront, in the gateway's region behind API Gateway. Default: the stacks create
   * one.
   */
  readonly certificateArn?: string;
}

/** New VPC with private subnets in two availability zones. The stack `network` has it. */
export interface CreatedNetworkOptions {
  readonly kind: 'created';
  /**
   * NAT gateways, each with an Elastic IP address: 1, or 2 for one in each availability zone. Providers see these
   * addresses. Default: 1.
   */
  readonly natGateways?: 1 | 2;
  /** Addresses of the VPC. AWS accepts /16 to /28, and both zones need room. Default: `10.0.0.0/16`. */
  readonly cidr?: string;
}

/** VPC of the owner. Its subnets need a route to the internet, and should have gateway endpoints of DynamoDB and S3. */
export interface ExistingNetworkOptions {
  readonly kind: 'existing';
  /** Id, such as `vpc-0123456789abcdef0`. */
  readonly vpcId: string;
  /** Ids of 1 to 16 private subnets. */
  readonly subnetIds: readonly string[];
  /** Ids of 1 to 5 security groups that allow outgoing HTTPS. */
  readonly securityGroupIds: readonly string[];
}

interface TracingShare {
  /** Share of the traces that start here, 0 to 1. A client that sends a trace decides about it. Default: 1. */
  readonly sampling?: number;
}

/** Spans go to X-Ray. CloudWatch Transaction Search must be on in the AWS account and region. */
export interface XrayTracingOptions extends TracingShare {
  readonly kind: 'xray';
}

/** Spans go to a collector in a Lambda layer, such as that of ADOT. Web Functions have no layers, so they export none. */
export interface LayerTracingOptions extends TracingShare {
  readonly kind: 'layer';
  /** ARN of a version of the layer for arm64, in the region of the gateway. */
  readonly layerArn: string;
}

/** Spans go to a collector that the functions can reach. They send no credentials. */
export interface OtlpTracingOptions extends TracingShare {
  readonly kind: 'otlp';
  /** Base URL, to which `v1/traces` is added. */
  readonly endpoint: string;
}

/** Rates per client IP and per API key. */
export interface LimitOptions {
  /** Requests per second of one client IP. Default: 30. */
  readonly LIMIT_ADDRESS_PER_SECOND?: number;
  /** Burst of one client IP, in requests. Default: 60. */
  readonly LIMIT_ADDRESS_BURST?: number;
  /** Requests per second of one API key. Default: 10. */
  readonly LIMIT_KEY_PER_SECOND?: number;
  /** Burst of one API key, in requests. Default: 15. */
  readonly LIMIT_KEY_BURST?: number;
}

/** Recipients of the alarms of one severity. */
export interface AlarmTargetOptions {
  /** Email addresses. Each recipient must confirm once. Default: none. */
  readonly mail?: readonly string[];
  /**
   * HTTPS URLs that accept messages of SNS, such as those of PagerDuty and Opsgenie, which confirm by themselves.
   * Default: none.
   */
  readonly https?: readonly string[];
  /** Channels of Amazon Q Developer in chat applications (AWS Chatbot). Default: none. */
  readonly chat?: readonly ChatChannelOptions[];
}

/** Channel of a workspace that an administrator has authorized. */
export type ChatChannelOptions =
  | { readonly kind: 'slack'; readonly workspaceId: string; readonly channelId: string }
  | { readonly kind: 'teams'; readonly tenantId: string; readonly teamId: string; readonly channelId: string };

/** Restored tables by their logical names. The other tables hold nothing that a restore brings back. */
export interface RestoredOptions {
  /** Name of the table, and ARN of its stream, which a restore does not create. */
  readonly accounts?: { readonly table: string; readonly streamArn: string };
  /** Name of the table of API keys. */
  readonly keys?: string;
  /** Name of the table of videos. */
  readonly videos?: string;
}

export interface BotOptions {
  /** Start credit of a new account in USD, as a decimal. Default: `0`. */
  readonly startCreditUsd?: string;
  /** Text or link for `/topup`, up to 1,000 characters. Default: the bot replies that top-ups are not available. */
  readonly topUpText?: string;
}

/** Times of videos in seconds, with the names of the functions' settings. */
export interface VideoTimeOptions {
  /** Time that a provider has to accept a video. Default: 60. */
  readonly VIDEO_CREATE_SECONDS?: number;
  /** Time between the first polls of a video. Default: 10. */
  readonly VIDEO_POLL_SECONDS?: number;
  /** Time between the last polls of a video. Default: 60. */
  readonly VIDEO_POLL_SECONDS_MAX?: number;
  /** Age at which a video fails. Default: 3,600. */
  readonly VIDEO_LIMIT_SECONDS?: number;
  /** Lifetime of the hold of a video. Default: 7,200. */
  readonly VIDEO_HOLD_SECONDS?: number;
  /** Wait before a failed step is retried. Default: 2. */
  readonly VIDEO_RETRY_SECONDS?: number;
  /** Wait before a failed delivery of a webhook is retried. Default: 10. */
  readonly VIDEO_WEBHOOK_RETRY_SECONDS?: number;
}
