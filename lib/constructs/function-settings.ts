import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { SettingsInput } from '../../lambdas/settings.ts';
import type { Environment } from '../environments.ts';
import type { SecretName } from '../function-description.ts';
import { type FunctionName, functions } from '../functions.ts';
import { publicUrlOf, publicUrlParameter } from '../public-url.ts';
import type { DataStack } from '../stacks/data-stack.ts';

/** Settings as environment variables. Required settings cannot be omitted. */
export type FunctionSettings = { readonly [Name in keyof SettingsInput]: string };

export interface SettingsSource {
  /** Prefix of every name in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly data: DataStack;
  readonly machineArn?: string | undefined;
  /** Base URL of image links, for a function that creates them. */
  readonly mediaUrl?: string | undefined;
  /** URL that must refuse a direct call, for a function that checks the gateway. */
  readonly directUrl?: string | undefined;
}

const secretSettings = {
  keyPepper: 'KEY_PEPPER_SECRET',
  providerKeys: 'PROVIDER_KEYS_SECRET',
  botToken: 'BOT_TOKEN_SECRET',
  topUpKey: 'TOP_UP_KEY_SECRET',
  originSecret: 'ORIGIN_SECRET_SECRET',
  canaryKey: 'CANARY_KEY_SECRET',
} as const satisfies Record<SecretName, keyof FunctionSettings>;

export const toSettings = (name: FunctionName, source: SettingsSource): FunctionSettings => {
  const { environment, data, machineArn, mediaUrl, directUrl } = source;
  const { tables } = functions[name];
  const times = tables.some(({ table }) => table === 'videos') ? Object.entries(environment.videos) : [];
  return {
    ACCOUNTS_TABLE: data.tables.accounts.tableName,
    KEYS_TABLE: data.tables.keys.tableName,
    COUNTERS_TABLE: data.tables.counters.tableName,
    IDEMPOTENCY_TABLE: data.tables.idempotency.tableName,
    VIDEOS_TABLE: data.tables.videos.tableName,
    MEDIA_BUCKET: data.media.bucketName,
    MARKUP: environment.markup,
    HOLD_FORMAT: environment.holdFormat,
    UNCOLLECTED_DAILY_USD: environment.uncollectedDailyUsd,
    LOG_FORMAT: 'json',
    CATALOGS: environment.catalogs.join(','),
    ...Object.fromEntries(
      secretsOf(name, environment).map((secret) => [secretSettings[secret], data.secretArnOf(secret)]),
    ),
    ...Object.fromEntries(times.map(([time, value]) => [time, String(value)])),
    ...(machineArn === undefined ? {} : { VIDEO_MACHINE_ARN: machineArn }),
    ...(mediaUrl === undefined ? {} : { MEDIA_URL: mediaUrl }),
    ...(directUrl === undefined ? {} : { CANARY_DIRECT_URL: directUrl }),
    ...(isHttp(name) ? toDoorSettings(environment) : {}),
    ...(exportsTraces(name, environment) ? toTraceSettings(source) : {}),
    ...(asksForAddress(name, environment) ? { PUBLIC_URL_PARAMETER: publicUrlParameter(source.prefix) } : {}),
    ...(functions[name].showsApp || functions[name].linksMedia ? toAddress(environment) : {}),
    ...(functions[name].showsApp ? { START_CREDIT_USD: environment.bot.startCreditUsd } : {}),
    ...(functions[name].showsApp || name === 'app' ? toTopUpSettings(environment) : {}),
    ...(functions[name].publishesUsage ? toUsageSettings(source) : {}),
    ...toRestart(data),
  };
};

/** Returns the name of the created bus for usage events. */
export const usageBusName = (prefix: string): string => `${prefix}-usage`;

const toUsageSettings = ({ prefix, environment: { usageEvents } }: SettingsSource): Partial<FunctionSettings> => ({
  USAGE_EVENTS_BUS: usageEvents?.kind === 'existing' ? usageEvents.eventBusArn : usageBusName(prefix),
  USAGE_EVENTS_SOURCE: prefix,
});

/**
 * Returns a variable that no code reads. Changing `-c restart=<value>` replaces every execution environment, so
 * functions load the current secrets.
 */
const toRestart = (stack: Stack): Readonly<Record<string, string>> => {
  const restart: unknown = stack.node.tryGetContext('restart');
  return restart === undefined ? {} : { RESTART: String(restart) };
};

/** Whether clients call the function, through any front door. */
const isHttp = (name: FunctionName): boolean => ['url', 'web'].includes(functions[name].trigger);

/** Whether the function exports traces of requests. A Web Function cannot have the collector of a layer. */
const exportsTraces = (name: FunctionName, { tracing }: Environment): boolean =>
  tracing !== undefined && isHttp(name) && (tracing.kind !== 'layer' || functions[name].trigger === 'url');

/** Layer with the collector of a function, if its traces use one. */
export const collectorLayerOf = (name: FunctionName, environment: Environment): string | undefined =>
  environment.tracing?.kind === 'layer' && exportsTraces(name, environment) ? environment.tracing.layerArn : undefined;

/** Port of a collector in the execution environment, by the convention for OTLP over HTTP. */
const LAYER_COLLECTOR = 'http://127.0.0.1:4318';

const toTraceSettings = ({
  prefix,
  environment: { tracing, region },
}: Pick<SettingsSource, 'prefix' | 'environment'>): Partial<FunctionSettings> => ({
  OTEL_SERVICE_NAME: prefix,
  ...(tracing?.kind === 'xray'
    ? { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `https://xray.${region}.amazonaws.com/v1/traces` }
    : { OTEL_EXPORTER_OTLP_ENDPOINT: tracing?.kind === 'otlp' ? tracing.endpoint : LAYER_COLLECTOR }),
  ...(tracing && tracing.sampling < 1
    ? { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: String(tracing.sampling) }
    : {}),
});

/** Returns the secrets of a function. Behind CloudFront, functions for clients also need the origin secret (AUTH-9). */
const secretsOf = (name: FunctionName, { frontDoor }: Environment): readonly SecretName[] => [
  ...functions[name].secrets,
  ...(isHttp(name) && frontDoor === 'cloudfront' ? (['originSecret'] as const) : []),
];

/** Returns the secrets, the parameter and the endpoint of traces that a function's settings name, for its role. */
export const toGrants = (
  scope: Construct,
  {
    name,
    prefix,
    environment,
  }: { readonly name: FunctionName; readonly prefix: string; readonly environment: Environment },
) => ({
  secrets: secretsOf(name, environment),
  writesSpans: environment.tracing?.kind === 'xray' && exportsTraces(name, environment),
  parameterArn: asksForAddress(name, environment)
    ? Stack.of(scope).formatArn({
        service: 'ssm',
        resource: 'parameter',
        resourceName: publicUrlParameter(prefix).slice(1),
      })
    : undefined,
});

/**
 * Whether a function reads the public URL from a parameter, because the URL is unknown until the front door is
 * deployed.
 */
const asksForAddress = (name: FunctionName, environment: Environment): boolean =>
  (functions[name].showsApp || functions[name].linksMedia) === true &&
  publicUrlOf(environment) === undefined &&
  environment.frontDoor !== 'none';

const toDoorSettings = ({ frontDoor, edgeTimeoutSeconds, edgeJsonKeepAlive, limits }: Environment) => ({
  FRONT_DOOR: frontDoor,
  EDGE_TIMEOUT_SECONDS: String(edgeTimeoutSeconds),
  EDGE_JSON_KEEP_ALIVE: String(edgeJsonKeepAlive),
  ...Object.fromEntries(Object.entries(limits).map(([limit, value]) => [limit, String(value)])),
});

const toAddress = (environment: Environment): Partial<FunctionSettings> => {
  const url = publicUrlOf(environment);
  return url === undefined ? {} : { PUBLIC_URL: url };
};

const toTopUpSettings = ({ bot }: Environment): Partial<FunctionSettings> =>
  bot.topUpText === undefined ? {} : { TOP_UP_TEXT: bot.topUpText };
