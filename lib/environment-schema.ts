import * as z from 'zod';
import { catalogData } from '../catalog/index.ts';
import { settingsSchema } from '../lambdas/settings.ts';
import { EDGE_REGION } from './edge/edge-region.ts';
import type { EventFunctionDescription, WebFunctionDescription } from './function-description.ts';
import { eventFunctionNames, type FunctionName, functions, type WebFunctionName } from './functions.ts';
import { inferenceFunctionNames } from './inference-functions.ts';
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

/** Where one environment serves everything that costs money, most requests wait for a vendor and weigh little. */
const INFERENCE_CONCURRENCY = 64;

/**
 * The functions that an environment has. API Gateway calls functions with events and nothing else; elsewhere files are served by a
 * Web Function, and inference by one that takes large bodies, or by that one alone. Behind CloudFront whatever may serve inference stands
 * even if nothing leads to it, which costs nothing: the edge changes after the functions do, and leads to the former ones until then.
 */
export const functionsOf = ({ frontDoor, largeBodies, inferenceHost }: Environment): EnvironmentFunctions => {
  const events = eventFunctionNames.map((name) => ({ name, description: functions[name] }));
  const { content, inference } = functions;
  if (frontDoor === 'api-gateway') return { events: [...events, { name: 'content', description: byEvents }], webs: [] };
  const files = { name: 'content', description: content } as const;
  const servesAll = inferenceHost === 'web-function';
  if (frontDoor === 'none' && largeBodies === 'off' && !servesAll) return { events, webs: [files] };
  const description = servesAll ? { ...inference, concurrency: INFERENCE_CONCURRENCY } : inference;
  return { events, webs: [files, { name: 'inference', description }] };
};

/** Who is given the requests of a function: itself, or the one that serves inference alone. */
export const hostOf = ({ inferenceHost }: Environment, name: FunctionName): FunctionName =>
  inferenceHost === 'web-function' && inferenceFunctionNames.some((served) => served === name) ? 'inference' : name;

/** Streams of a function that is called with events end at 200 MB: a larger video is cut off there. */
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
 * Rules across fields. Fields that only one front door reads are refused with another one where they say something
 * else than they do by default: the operator expects them to take effect.
 */
export const contradictionsIn = (environment: Environment): readonly Contradiction[] =>
  rules.map((rule) => rule(environment)).filter((found) => found !== undefined);

const at = (path: string, message: string): Contradiction => ({ path: path.split('.'), message });

const rules: readonly Rule[] = [
  ({ domain, frontDoor }) =>
    domain && frontDoor === 'none' ? at('domain', 'there is no front door that could answer for it') : undefined,
  ({ domain }) =>
    domain && !domain.hostedZone && !domain.certificateArn
      ? at('domain', 'needs a hostedZone or a certificateArn')
      : undefined,
  ({ domain: { name, hostedZone } = { name: '' } }) =>
    hostedZone && name !== hostedZone.name && !name.endsWith(`.${hostedZone.name}`)
      ? at('domain.hostedZone.name', `${name} is not in it`)
      : undefined,
  ({ domain, frontDoor, region }) => {
    const needed = frontDoor === 'cloudfront' ? EDGE_REGION : region;
    const actual = domain?.certificateArn?.split(':')[3];
    return actual !== undefined && actual !== needed
      ? at('domain.certificateArn', `must be one of ${needed}, where ${frontDoor} looks for it`)
      : undefined;
  },
  ({ publicUrl, domain }) =>
    publicUrl !== undefined && domain && new URL(publicUrl).hostname !== domain.name
      ? at('publicUrl', `domain says ${domain.name}`)
      : undefined,
  ({ edgeTimeoutSeconds, frontDoor }) =>
    frontDoor !== 'cloudfront' && edgeTimeoutSeconds !== 120
      ? at('edgeTimeoutSeconds', 'is for frontDoor cloudfront')
      : undefined,
  ({ edgeJsonKeepAlive, frontDoor }) =>
    frontDoor !== 'cloudfront' && !edgeJsonKeepAlive
      ? at('edgeJsonKeepAlive', 'is for frontDoor cloudfront')
      : undefined,
  ({ firewallRequestsPerMinute, frontDoor }) =>
    frontDoor === 'none' && firewallRequestsPerMinute !== 2_400
      ? at('firewallRequestsPerMinute', 'a firewall needs a front door')
      : undefined,
  ({ inferenceHost, frontDoor }) =>
    frontDoor === 'api-gateway' && inferenceHost === 'web-function'
      ? at('inferenceHost', 'api-gateway cannot call a Web Function')
      : undefined,
  ({ firewallRequestsPerMinute, limits, frontDoor }) => {
    const allowed = 60 * limits.LIMIT_ADDRESS_PER_SECOND + limits.LIMIT_ADDRESS_BURST;
    return frontDoor !== 'none' && allowed > firewallRequestsPerMinute
      ? at('firewallRequestsPerMinute', `limits lets an address make ${allowed}, which would never pass`)
      : undefined;
  },
  ({ bot, frontDoor, publicUrl }) =>
    frontDoor === 'none' && publicUrl === undefined && (bot.startCreditUsd !== '0' || bot.topUpText !== undefined)
      ? at('bot', 'needs a publicUrl where frontDoor is none: its app and its webhook have no address in common')
      : undefined,
  (environment) => {
    const there: ReadonlySet<string> = new Set(
      functionsOf(environment).events.flatMap(({ name }) => (hostOf(environment, name) === name ? [name] : [])),
    );
    const { memoryMb, reservedConcurrency } = environment;
    const wrong = Object.entries({ memoryMb, reservedConcurrency }).flatMap(([field, said]) =>
      Object.keys(said).flatMap((name) => (there.has(name) ? [] : [`${field}.${name}`])),
    );
    return wrong[0] === undefined ? undefined : at(wrong[0], 'a Web Function is in its place, by inferenceHost');
  },
  ({ videos: { VIDEO_POLL_SECONDS, VIDEO_POLL_SECONDS_MAX } }) =>
    VIDEO_POLL_SECONDS_MAX < VIDEO_POLL_SECONDS
      ? at('videos.VIDEO_POLL_SECONDS_MAX', `must not be below VIDEO_POLL_SECONDS, which is ${VIDEO_POLL_SECONDS}`)
      : undefined,
  /** What a video could be charged after its hold has gone with, and what the state machine cannot be made with. */
  ({ videos }) => {
    const problem = tightTimesIn(videos);
    return problem === undefined ? undefined : at('videos', problem);
  },
];

const functionName = z.enum(eventFunctionNames);

const companies = Object.keys(catalogData.companies);
const company = z.enum(companies);

/** The periods CloudWatch knows, up to two years. */
const logRetention = z.literal([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731]);

/** How long things take with videos, under the names and with the values the functions know them by. */
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

/** What clients are limited to (LIM-1, LIM-2), under the names and with the values the functions know them by. */
const limits = z.strictObject(
  settingsSchema.pick({
    LIMIT_ADDRESS_PER_SECOND: true,
    LIMIT_ADDRESS_BURST: true,
    LIMIT_KEY_PER_SECOND: true,
    LIMIT_KEY_BURST: true,
  }).shape,
);

const bot = z.strictObject({
  /** What an account begins with, in USD: nothing, unless it is said. */
  startCreditUsd: settingsSchema.shape.START_CREDIT_USD,
  /** What `/topup` says, or the link that it shows. Without it the bot says that nobody takes payments here. */
  topUpText: settingsSchema.shape.TOP_UP_TEXT,
});

/** A name of the gateway's own. The certificate is asked for and proved in the hosted zone, or is one that exists already. */
const domain = z.strictObject({
  name: z.hostname(),
  /** Of Route 53: the certificate is proved and the name is led to the gateway there. */
  hostedZone: z.strictObject({ id: z.string().min(1), name: z.hostname() }).optional(),
  /** In us-east-1 behind CloudFront, in the gateway's own region behind API Gateway. */
  certificateArn: z
    .string()
    .regex(/^arn:[a-z-]+:acm:[a-z0-9-]+:\d+:certificate\/\S+$/, 'must be the ARN of a certificate of ACM')
    .optional(),
});

export const frontDoors = settingsSchema.shape.FRONT_DOOR.unwrap().options;
export type FrontDoorName = (typeof frontDoors)[number];

const unique = (list: readonly string[]): boolean => new Set(list).size === list.length;
const isOrigin = (url: string): boolean => URL.canParse(url) && new URL(url).href === `${new URL(url).origin}/`;

/** What an environment may say. Fields that contradict each other are in `environment-rules.ts`. */
export const environmentSchema = z
  .strictObject({
    /** Where everything is, but for what CloudFront takes from us-east-1 alone. */
    region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region of AWS such as eu-central-1'),
    /** What stands before the functions: see docs/operations/deployment.md for what each of them carries. */
    frontDoor: z.enum(frontDoors).default('cloudfront'),
    /** Without one, clients use the name that AWS gives the front door. */
    domain: domain.optional(),
    /** How long CloudFront waits for an answer that is silent. More than 120 s is a quota that AWS raises when asked to. */
    edgeTimeoutSeconds: z.int().min(30).max(600).default(120),
    /** Whether a plain answer that takes long is begun before its status is known (ERR-6). */
    edgeJsonKeepAlive: z.boolean().default(true),
    /**
     * Who takes bodies that a function URL cannot carry; `off`, they are refused in AWS's own words. Behind API Gateway nobody does,
     * whatever stands here: an event of 6 MB is the bound.
     */
    largeBodies: z.enum(['web-function', 'off']).default('web-function'),
    /** Where inference runs: one environment per request, or many requests in one (docs/operations/costs.md). */
    inferenceHost: z.enum(['function-url', 'web-function']).default('function-url'),
    /** 30 a second per address and 10 per key, with bursts of 60 and 15, unless they are said. */
    limits: limits.prefault({}),
    /** Requests that the firewall lets one address make in 60 s (OPS-2). What `limits` allows has to pass it. */
    firewallRequestsPerMinute: z.int().min(10).max(2_000_000_000).default(2_400),
    /** Whose models are served: everybody's, unless it is said. */
    catalogs: z
      .array(company)
      .min(1)
      .refine(unique, 'names a company twice')
      .default([...companies]),
    /** Who is written to when an alarm goes off; each of them has to confirm once. Nobody, unless it is said. */
    alarmAddresses: z.array(z.email()).refine(unique, 'names an address twice').default([]),
    /** Above this the bill of the whole AWS account is an alarm. None, unless it is said. */
    budgetUsdPerMonth: z.number().positive().max(1_000_000_000).optional(),
    logRetentionDays: logRetention,
    /** Off, the tables and secrets go with their stack. On, they outlive it and a table refuses to be deleted. */
    keepsData: z.boolean(),
    /** CloudFormation refuses to delete the stacks until it is switched off by hand. */
    terminationProtection: z.boolean(),
    /** Factor on every list price, a decimal above 0 (BILL-3). */
    markup: z
      .string()
      .regex(/^(0|[1-9]\d{0,14})(\.\d{1,12})?$/, 'must be a decimal number')
      .refine((markup) => /[1-9]/.test(markup), 'must be above 0'),
    /** The address that clients use, if it is neither the domain nor the front door's own: the bot tells it. */
    publicUrl: z
      .url({ protocol: /^https$/, error: 'must be an address such as https://api.example.com' })
      .refine(isOrigin, 'must have no path')
      .optional(),
    bot: bot.prefault({}),
    /** In place of what `functions.ts` says. A Web Function has 2 GB and no choice. */
    memoryMb: z.partialRecord(functionName, z.int().min(128).max(10_240)).default({}),
    /**
     * Nothing is reserved, unless it is said. It is a ceiling as well as a promise, and is taken from what the account's other
     * functions share: AWS insists that 100 of that stay unreserved. A Web Function has none.
     */
    reservedConcurrency: z.partialRecord(functionName, z.int().positive().max(100_000)).default({}),
    /** Synthesis refuses times that do not fit together. */
    videos: videoTimes.prefault({}),
  })
  .superRefine((environment, { addIssue }) => {
    for (const { path, message } of contradictionsIn(environment))
      addIssue({ code: 'custom', path: [...path], message });
  });

export type Environment = z.output<typeof environmentSchema>;
