import * as z from 'zod';
import { catalogData } from '../catalog/index.ts';
import { settingsSchema } from '../lambdas/settings.ts';
import { EDGE_REGION } from './edge/edge-region.ts';
import type { EventFunctionDescription, WebFunctionDescription } from './function-description.ts';
import { eventFunctionNames, type FunctionName, functions, type WebFunctionName } from './functions.ts';
import { inferenceFunctionNames } from './inference-functions.ts';
import { severities } from './operations/alarm-row.ts';
import { alarmTargets, hasTarget } from './operations/alarm-targets.ts';
import { tightTimesIn } from './video/last-steps.ts';

export interface EventFunction {
  readonly name: FunctionName;
  readonly description: EventFunctionDescription;
}

export interface WebFunctionOf {
  readonly name: WebFunctionName;
  readonly description: WebFunctionDescription;
}

export interface EnvironmentFunctions {
  readonly events: readonly EventFunction[];
  readonly webs: readonly WebFunctionOf[];
}

/**
 * Concurrent requests per environment if one Web Function serves all inference: most requests are small and wait for a
 * provider.
 */
const INFERENCE_CONCURRENCY = 64;

/**
 * Returns the functions of an environment. API Gateway only calls functions with events. With other front doors, a Web
 * Function serves files, and another one serves large bodies or all inference. Behind CloudFront, an unused host of
 * inference stays deployed, at no cost: the edge is updated after the functions and uses the former hosts until then.
 */
export const functionsOf = (environment: Environment): EnvironmentFunctions => {
  const { frontDoor, largeBodies, inferenceHost } = environment;
  const optional = { canary: hasCanary(environment), usageEvents: environment.usageEvents !== undefined };
  const absent = new Set(Object.entries(optional).flatMap(([name, exists]) => (exists ? [] : [name])));
  const names = eventFunctionNames.filter((name) => !absent.has(name));
  const events = names.map((name) => ({ name, description: functions[name] }));
  const { content, inference } = functions;
  if (frontDoor === 'api-gateway') return { events: [...events, { name: 'content', description: byEvents }], webs: [] };
  const files = { name: 'content', description: content } as const;
  const servesAll = inferenceHost === 'web-function';
  if (frontDoor === 'none' && largeBodies === 'off' && !servesAll) return { events, webs: [files] };
  const description = servesAll ? { ...inference, concurrency: INFERENCE_CONCURRENCY } : inference;
  return { events, webs: [files, { name: 'inference', description }] };
};

/** Whether the environment has a canary. It needs one URL for all routes. */
export const hasCanary = ({ canary, frontDoor }: Environment): boolean => canary && frontDoor !== 'none';

/** Returns the function that serves the requests of `name`: itself, or `inference` if that serves all inference. */
export const hostOf = ({ inferenceHost }: Environment, name: FunctionName): FunctionName =>
  inferenceHost === 'web-function' && inferenceFunctionNames.some((served) => served === name) ? 'inference' : name;

/**
 * Serves files behind API Gateway. A stream of a function that is called with events ends at 200 MB, so larger videos
 * are cut off.
 */
const byEvents: EventFunctionDescription = {
  ...functions.content,
  entry: 'lambdas/functions/content.ts',
  trigger: 'url',
  memoryMb: 512,
};

interface Contradiction {
  readonly path: readonly string[];
  readonly message: string;
}

type Rule = (environment: Environment) => Contradiction | undefined;

/**
 * Finds contradictions between fields. A field of another front door is rejected unless it has its default, because the
 * operator expects it to take effect.
 */
export const contradictionsIn = (environment: Environment): readonly Contradiction[] =>
  rules.map((rule) => rule(environment)).filter((found) => found !== undefined);

const at = (path: string, message: string): Contradiction => ({ path: path.split('.'), message });

const rules: readonly Rule[] = [
  ({ domain, frontDoor }) =>
    domain && frontDoor === 'none'
      ? at('domain', 'needs a front door. Choose another frontDoor, or remove domain')
      : undefined,
  ({ domain }) =>
    domain && !domain.hostedZone && !domain.certificateArn
      ? at('domain', 'needs a hostedZone or a certificateArn. Add one')
      : undefined,
  ({ domain: { name, hostedZone } = { name: '' } }) =>
    hostedZone && name !== hostedZone.name && !name.endsWith(`.${hostedZone.name}`)
      ? at('domain.hostedZone.name', `must be ${name} or a parent domain of it`)
      : undefined,
  ({ domain, frontDoor, region }) => {
    const needed = frontDoor === 'cloudfront' ? EDGE_REGION : region;
    const actual = domain?.certificateArn?.split(':')[3];
    return actual !== undefined && actual !== needed
      ? at('domain.certificateArn', `must be in ${needed}, where ${frontDoor} reads it`)
      : undefined;
  },
  ({ bootstrapKeyArn, region }) =>
    bootstrapKeyArn !== undefined && bootstrapKeyArn.split(':')[3] !== region
      ? at('bootstrapKeyArn', `must be in ${region}, where the stacks are`)
      : undefined,
  ({ usageEvents, region }) =>
    usageEvents?.kind === 'existing' && usageEvents.eventBusArn.split(':')[3] !== region
      ? at(
          'usageEvents.eventBusArn',
          `must be in ${region}. Forward events to another region with a rule of a bus there`,
        )
      : undefined,
  ({ tracing, region }) =>
    tracing?.kind === 'layer' && tracing.layerArn.split(':')[3] !== region
      ? at('tracing.layerArn', `must be in ${region}, where the functions are`)
      : undefined,
  ({ tracing, inferenceHost }) =>
    tracing?.kind === 'layer' && inferenceHost === 'web-function'
      ? at('tracing.kind', 'must be xray or otlp, because inferenceHost is a Web Function, which has no layers')
      : undefined,
  ({ publicUrl, domain }) =>
    publicUrl !== undefined && domain && new URL(publicUrl).hostname !== domain.name
      ? at('publicUrl', `must have the host name of domain, ${domain.name}. Change it or remove it`)
      : undefined,
  ({ edgeTimeoutSeconds, frontDoor }) =>
    frontDoor !== 'cloudfront' && edgeTimeoutSeconds !== 120
      ? at('edgeTimeoutSeconds', 'applies to frontDoor cloudfront only. Remove it')
      : undefined,
  ({ edgeJsonKeepAlive, frontDoor }) =>
    frontDoor !== 'cloudfront' && !edgeJsonKeepAlive
      ? at('edgeJsonKeepAlive', 'applies to frontDoor cloudfront only. Remove it')
      : undefined,
  ({ firewallRequestsPerMinute, frontDoor }) =>
    frontDoor === 'none' && firewallRequestsPerMinute !== 2_400
      ? at('firewallRequestsPerMinute', 'has no effect without a front door. Remove it')
      : undefined,
  ({ inferenceHost, frontDoor }) =>
    frontDoor === 'api-gateway' && inferenceHost === 'web-function'
      ? at('inferenceHost', 'must be function-url behind api-gateway, which cannot call a Web Function')
      : undefined,
  ({ inferenceHost, textShift }) =>
    inferenceHost === 'web-function' && textShift !== 'off'
      ? at('textShift', 'has no effect, because inferenceHost serves text with a Web Function. Remove it')
      : undefined,
  ({ network, frontDoor }) =>
    network && frontDoor === 'none'
      ? at(
          'network',
          'needs a front door, because AWS supports no streaming by function URLs in a VPC. Choose another frontDoor',
        )
      : undefined,
  ({ network, frontDoor, inferenceHost }) =>
    network && frontDoor === 'cloudfront' && inferenceHost === 'function-url'
      ? at(
          'network',
          'needs inferenceHost web-function behind cloudfront, because AWS supports no streaming by function URLs in a VPC. Set it, or choose frontDoor api-gateway',
        )
      : undefined,
  ({ firewallRequestsPerMinute, limits, frontDoor }) => {
    const allowed = 60 * limits.LIMIT_ADDRESS_PER_SECOND + limits.LIMIT_ADDRESS_BURST;
    return frontDoor !== 'none' && allowed > firewallRequestsPerMinute
      ? at(
          'firewallRequestsPerMinute',
          `must be at least ${allowed}, because the field limits allows a client IP this many requests in a minute`,
        )
      : undefined;
  },
  ({ bot, frontDoor, publicUrl }) =>
    frontDoor === 'none' && publicUrl === undefined && (bot.startCreditUsd !== '0' || bot.topUpText !== undefined)
      ? at(
          'bot',
          'needs a publicUrl without a front door, because its app and its webhook then have different URLs. Set one',
        )
      : undefined,
  (environment) => {
    const there: ReadonlySet<string> = new Set(
      functionsOf(environment).events.flatMap(({ name }) => (hostOf(environment, name) === name ? [name] : [])),
    );
    const { memoryMb, reservedConcurrency } = environment;
    const wrong = Object.entries({ memoryMb, reservedConcurrency }).flatMap(([field, said]) =>
      Object.keys(said).flatMap((name) => (there.has(name) ? [] : [`${field}.${name}`])),
    );
    return wrong[0] === undefined
      ? undefined
      : at(wrong[0], 'has no effect, because inferenceHost serves this function with a Web Function. Remove it');
  },
  ({ alarms, alarmActions }) => {
    const silent = severities.find((severity) => !hasTarget(alarms[severity]));
    return alarmActions && silent !== undefined
      ? at(`alarms.${silent}`, 'needs a recipient in mail, https or chat if alarmActions is true. Add one')
      : undefined;
  },
  ({ videos: { VIDEO_POLL_SECONDS, VIDEO_POLL_SECONDS_MAX } }) =>
    VIDEO_POLL_SECONDS_MAX < VIDEO_POLL_SECONDS
      ? at('videos.VIDEO_POLL_SECONDS_MAX', `must be at least VIDEO_POLL_SECONDS, which is ${VIDEO_POLL_SECONDS}`)
      : undefined,
  /**
   * Rejects times for which a video could be charged after its hold was released, or which the state machine does not
   * support.
   */
  ({ videos }) => {
    const problem = tightTimesIn(videos);
    return problem === undefined ? undefined : at('videos', problem);
  },
];

const unique = (list: readonly string[]): boolean => new Set(list).size === list.length;

const functionName = z.enum(eventFunctionNames);

const companies = Object.keys(catalogData.companies);
const company = z.enum(companies);

/** Log retention periods that CloudWatch supports, up to two years, in days. */
const logRetention = z.literal([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731]);

/** Time settings of videos, with the names and default values of the functions' settings. */
const videoTimes = z.strictObject(
  settingsSchema.pick({
    VIDEO_CREATE_SECONDS: true,
    VIDEO_POLL_SECONDS: true,
    VIDEO_POLL_SECONDS_MAX: true,
    VIDEO_LIMIT_SECONDS: true,
    VIDEO_HOLD_SECONDS: true,
    VIDEO_RETRY_SECONDS: true,
    VIDEO_WEBHOOK_RETRY_SECONDS: true,
  }).shape,
);

/** Client limits (LIM-1, LIM-2), with the names and default values of the functions' settings. */
const limits = z.strictObject(
  settingsSchema.pick({
    LIMIT_ADDRESS_PER_SECOND: true,
    LIMIT_ADDRESS_BURST: true,
    LIMIT_KEY_PER_SECOND: true,
    LIMIT_KEY_BURST: true,
  }).shape,
);

const tableName = z.string().regex(/^[\w.-]{3,255}$/, 'must be the name of a DynamoDB table');

const arn = (form: RegExp, resource: string, error = `must be the ARN of ${resource}`) =>
  z.string(error).regex(form, error);

const restored = z.strictObject({
  accounts: z
    .strictObject({
      table: tableName,
      streamArn: arn(/^arn:[\w-]+:dynamodb:.+\/stream\/.+$/, 'a stream'),
    })
    .optional(),
  keys: tableName.optional(),
  videos: tableName.optional(),
});

const bot = z.strictObject({
  startCreditUsd: settingsSchema.shape.START_CREDIT_USD,
  topUpText: settingsSchema.shape.TOP_UP_TEXT,
});

const domain = z.strictObject({
  name: z.hostname(),
  hostedZone: z.strictObject({ id: z.string().min(1), name: z.hostname() }).optional(),
  certificateArn: arn(/^arn:[a-z-]+:acm:[a-z0-9-]+:\d+:certificate\/\S+$/, 'an ACM certificate').optional(),
});

const id = (kind: string) =>
  z.string().regex(new RegExp(`^${kind}-[0-9a-f]{8,17}$`), `must be an id such as ${kind}-0a1b2c3d`);

/** Error of a choice between objects by their `kind`. `shapes` lists them for a value that is not an object. */
const kindError = (kinds: string, shapes: string) => ({
  error: (issue: { readonly code?: string | undefined }) => `must be ${issue.code === 'invalid_type' ? shapes : kinds}`,
});

const network = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({
      kind: z.literal('created'),
      natGateways: z.literal([1, 2]).default(1),
      cidr: z.cidrv4().default('10.0.0.0/16'),
    }),
    z.strictObject({
      kind: z.literal('existing'),
      vpcId: id('vpc'),
      subnetIds: z.array(id('subnet')).min(1).max(16).refine(unique, 'must not repeat a subnet'),
      securityGroupIds: z.array(id('sg')).min(1).max(5).refine(unique, 'must not repeat a security group'),
    }),
  ],
  kindError('created or existing', "{ kind: 'created' } or { kind: 'existing', vpcId, subnetIds, securityGroupIds }"),
);

const usageEvents = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('created') }),
    z.strictObject({
      kind: z.literal('existing'),
      eventBusArn: arn(/^arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus\/[\w./-]+$/, 'an event bus'),
    }),
  ],
  kindError('created or existing', "{ kind: 'created' } or { kind: 'existing', eventBusArn }"),
);

const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';

const share = 'must be a number from 0 to 1';
const sampling = z.number(share).min(0, share).max(1, share).default(1);

const tracing = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('xray'), sampling }),
    z.strictObject({
      kind: z.literal('layer'),
      layerArn: arn(/^arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:layer:[\w-]+:\d+$/, 'a version of a layer'),
      sampling,
    }),
    z.strictObject({
      kind: z.literal('otlp'),
      endpoint: z
        .url({ protocol: /^https?$/, error: 'must be a URL such as https://collector.example.com' })
        .refine(
          (url) => !hasCredentials(new URL(url)),
          'must not have credentials, because every reader of the function sees them',
        ),
      sampling,
    }),
  ],
  kindError('xray, layer or otlp', "{ kind: 'xray' }, { kind: 'layer', layerArn } or { kind: 'otlp', endpoint }"),
);

export const frontDoors = settingsSchema.shape.FRONT_DOOR.unwrap().options;
export type FrontDoorName = (typeof frontDoors)[number];

const isOrigin = (url: string): boolean => URL.canParse(url) && new URL(url).href === `${new URL(url).origin}/`;

/** Schema of `EnvironmentOptions`. The rules in `contradictionsIn` find fields that contradict each other. */
export const environmentSchema = z
  .strictObject({
    region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be an AWS region such as eu-central-1'),
    account: z
      .string()
      .regex(/^(\d{12}|any)$/, "must be the 12 digits of an AWS account, or 'any'")
      .optional(),
    bootstrapKeyArn: arn(/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/, 'a KMS key').optional(),
    frontDoor: z.enum(frontDoors).default('cloudfront'),
    domain: domain.optional(),
    network: network.optional(),
    tracing: tracing.optional(),
    edgeTimeoutSeconds: z.int().min(30).max(600).default(120),
    edgeJsonKeepAlive: z.boolean().default(true),
    largeBodies: z.enum(['web-function', 'off']).default('web-function'),
    inferenceHost: z.enum(['function-url', 'web-function']).default('function-url'),
    limits: limits.prefault({}),
    firewallRequestsPerMinute: z.int().min(10).max(2_000_000_000).default(2_400),
    catalogs: z
      .array(company)
      .min(1)
      .refine(unique, 'must not repeat a company')
      .default([...companies]),
    alarms: alarmTargets.prefault({}),
    alarmActions: z.boolean().default(false),
    canary: z.boolean().default(false),
    textShift: z.enum(['off', 'canary', 'linear']).default('off'),
    rollbackMinutes: z.int().min(0).max(180).optional(),
    budgetUsdPerMonth: z.number().positive().max(1_000_000_000).optional(),
    logRetentionDays: logRetention,
    keepsData: z.boolean(),
    terminationProtection: z.boolean(),
    markup: z
      .string("must be a decimal number in quotes, such as '1.25'")
      .regex(/^(0|[1-9]\d{0,14})(\.\d{1,12})?$/, 'must be a decimal number such as 1.25, without a sign')
      .refine((markup) => /[1-9]/.test(markup), 'must be above 0'),
    holdFormat: settingsSchema.shape.HOLD_FORMAT,
    restored: restored.prefault({}),
    uncollectedDailyUsd: settingsSchema.shape.UNCOLLECTED_DAILY_USD,
    usageEvents: usageEvents.optional(),
    publicUrl: z
      .url({ protocol: /^https$/, error: 'must be an https URL such as https://api.example.com' })
      .refine(isOrigin, 'must not have a path')
      .optional(),
    bot: bot.prefault({}),
    memoryMb: z.partialRecord(functionName, z.int().min(128).max(10_240)).default({}),
    reservedConcurrency: z.partialRecord(functionName, z.int().positive().max(100_000)).default({}),
    videos: videoTimes.prefault({}),
  })
  .superRefine((environment, { addIssue }) => {
    for (const { path, message } of contradictionsIn(environment))
      addIssue({ code: 'custom', path: [...path], message });
  });

/** Environment with its defaults. */
export type Environment = z.output<typeof environmentSchema>;
