import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { isApiKey, makeApiKey } from '../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../lambdas/core/money/usd.ts';
import { SettingsError, toSettingsError } from '../lambdas/settings.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const amount = z.string().refine(
  (text) => {
    try {
      return parseUsd(text) >= 0n;
    } catch {
      return false;
    }
  },
  { error: 'must be an amount in USD such as 10 or 2.50' },
);

const whole = (min: number, max: number, error = `must be a whole number from ${min} to ${max}`) =>
  z
    .string()
    .regex(/^\d{1,6}$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });

const oneOf = <const Choice extends string>(...choices: readonly Choice[]) =>
  z.enum(choices, { error: `must be ${choices.join(' or ')}` });

const trustedProxies = z.string().transform((text, context) => {
  try {
    return parseTrustedProxies(text);
  } catch (error) {
    context.addIssue(error instanceof Error ? error.message : String(error));
    return z.NEVER;
  }
});

const url = (example: string) =>
  z
    .url({ protocol: /^https?$/, error: `must be a URL such as ${example}`, abort: true })
    .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
      error: 'must not have a user name or password, which no request can send. Remove them',
    });

/**
 * Whether the URL is encrypted, or leads to this machine or a private network. Only private networks have host names
 * without a dot, such as those of Docker Compose. Any other host name can change its address.
 */
const isPrivate = (text: string): boolean => {
  const { protocol, hostname } = new URL(text);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'https:') return true;
  if (isIP(host) === 0) return !host.includes('.');
  return ['loopback', 'private', 'uniqueLocal'].includes(ipaddr.process(host).range());
};

/** Settings of the local program. The functions read and check the other variables themselves. */
const schema = z.object({
  MODE: oneOf('development', 'production').default('development'),
  HOST: z
    .string()
    .refine((text) => isIP(text) !== 0, { error: 'must be an IP address such as 127.0.0.1 or 0.0.0.0' })
    .default('127.0.0.1'),
  PORT: whole(0, 65_535, 'must be a port from 0 to 65535').default(8787),
  DATA_DIR: z.string().default('.local'),
  /** Proxies whose `X-Forwarded-For` counts (LIM-7). */
  TRUST_PROXY: trustedProxies.default([]),
  /** Connections of one client IP at a time (LIM-9). */
  CONNECTIONS_PER_IP: whole(1, 100_000).default(512),
  /** Time for which an idle connection stays open. */
  KEEP_ALIVE_SECONDS: whole(1, 3_600).default(65),
  LOG: oneOf('line', 'json').default('line'),
  /** Time that requests have to finish when the program stops. */
  SHUTDOWN_SECONDS: whole(0, 900).optional(),
  /** Whether a payment provider can credit accounts (KEY-6). */
  CREDITS: oneOf('on', 'off').default('on'),
  TOP_UP_KEY: z.string().min(16, 'must have at least 16 characters. Make one with: openssl rand -hex 32').optional(),
  LOCAL_API_KEY: z
    .string()
    .refine(isApiKey, { error: () => `is not a well-formed API key. Use one such as ${makeApiKey(randomBytes(32))}` })
    .optional(),
  LOCAL_BALANCE_USD: amount.optional(),
  /** Whether webhooks can go to other servers of this machine (HOOK-4). */
  LOCAL_WEBHOOKS: oneOf('on', 'off').optional(),
  /** Interval at which the sweeper releases expired holds and settles outbox entries. AWS does it every minute. */
  SWEEP_SECONDS: whole(1, 3_600).default(10),
  /** Endpoint of the operator that gets usage events, and the secret that signs them (OPS-20). */
  USAGE_EVENTS_URL: url('https://billing.example.com/usage')
    .refine(isPrivate, { error: 'must use https, except on this machine or a private network' })
    .optional(),
  USAGE_EVENTS_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'must be whsec_ and at least 24 bytes in base64')
    .optional(),
  DYNAMODB_ENDPOINT: url('http://127.0.0.1:8000').optional(),
  S3_ENDPOINT: url('http://127.0.0.1:9000').optional(),
});

type Fields = z.output<typeof schema>;

export type LocalSettings = Fields & {
  readonly LOCAL_BALANCE_USD: string;
  readonly SHUTDOWN_SECONDS: number;
};

/** 60 s are less than the 90 s after which systemd kills a service. */
const SHUTDOWN_SECONDS_DEFAULT = { development: 3, production: 60 } as const;

/**
 * Throws a SettingsError with one line per variable that is wrong. An empty variable counts as absent. In production
 * `TOP_UP_KEY` is present unless `CREDITS` is off.
 */
export const readLocalSettings = (environment: Environment): LocalSettings => {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(present);
  if (!parsed.success) throw toSettingsError(parsed.error);
  const settings = parsed.data;
  const problems = [
    ...(settings.MODE === 'production' ? productionProblems(settings, present) : developmentProblems(settings)),
    ...usageProblems(settings),
  ];
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return {
    ...settings,
    LOCAL_BALANCE_USD: settings.LOCAL_BALANCE_USD ?? '10',
    SHUTDOWN_SECONDS: settings.SHUTDOWN_SECONDS ?? SHUTDOWN_SECONDS_DEFAULT[settings.MODE],
  };
};

const developmentProblems = ({ HOST }: Fields): readonly string[] =>
  ipaddr.process(HOST).range() === 'loopback'
    ? []
    : [`HOST: other machines can reach ${HOST}. Set MODE=production, or use 127.0.0.1.`];

const usageProblems = ({ USAGE_EVENTS_URL, USAGE_EVENTS_SECRET }: Fields): readonly string[] => {
  if (USAGE_EVENTS_URL !== undefined && USAGE_EVENTS_SECRET === undefined)
    return [
      'USAGE_EVENTS_SECRET: missing. Set the secret that signs usage events: USAGE_EVENTS_SECRET=whsec_$(openssl rand -base64 32)',
    ];
  if (USAGE_EVENTS_URL === undefined && USAGE_EVENTS_SECRET !== undefined)
    return ['USAGE_EVENTS_URL: missing. Set the endpoint that gets usage events, or remove USAGE_EVENTS_SECRET.'];
  return [];
};

const productionProblems = (fields: Fields, own: Environment): readonly string[] => {
  const problems: string[] = [];
  if (fields.LOCAL_API_KEY !== undefined) {
    problems.push(
      'LOCAL_API_KEY: is only for development. Remove it, and run npm run cli -- keys issue <account> --create --reason <text>.',
    );
  }
  if (fields.LOCAL_BALANCE_USD !== undefined) {
    problems.push(
      'LOCAL_BALANCE_USD: is only for development. Remove it, and run npm run cli -- accounts credit <account> --amount <usd> --ref <ref> --reason <text>.',
    );
  }
  if (fields.LOCAL_WEBHOOKS !== undefined) {
    problems.push('LOCAL_WEBHOOKS: is only for development. Remove it, and use public URLs for webhooks.');
  }
  if (fields.TOP_UP_KEY === undefined && fields.CREDITS === 'on') {
    problems.push(
      'TOP_UP_KEY: missing. Set the secret that your payment provider signs with, or set CREDITS=off to reject POST /app/credits.',
    );
  }
  if (own.PUBLIC_URL === undefined && own.BOT_TOKEN !== undefined) {
    problems.push(
      'PUBLIC_URL: missing, and the bot needs it. Set the URL that clients use, such as https://api.example.com, or remove BOT_TOKEN.',
    );
  }
  return problems;
};

/**
 * Settings of the functions that differ from their own defaults on this machine. Settings of the operator take
 * precedence, and an empty value counts as absent. In production there is no free credit and no local page to link to.
 */
export const hostDefaults = (own: Environment, url: string): Readonly<Record<string, string>> => {
  const isProduction = own.MODE === 'production';
  return {
    PUBLIC_URL: own.PUBLIC_URL || url,
    MEDIA_URL: own.MEDIA_URL || (isProduction && own.PUBLIC_URL) || url,
    TOP_UP_TEXT: own.TOP_UP_TEXT || (isProduction ? '' : `${url}/?topup={account}`),
    START_CREDIT_USD: own.START_CREDIT_USD || (isProduction ? '0' : '1'),
    LOG_FORMAT: own.LOG || 'line',
    ...localVideoTimes(own),
  };
};

/**
 * Returns polling intervals for development, where simulated providers finish within seconds. They replace the defaults
 * of the functions. Empty in production, and if the environment sets either interval.
 */
export const localVideoTimes = (own: Environment): Readonly<Record<string, string>> =>
  own.MODE === 'production' || own.VIDEO_POLL_SECONDS || own.VIDEO_POLL_SECONDS_MAX
    ? {}
    : { VIDEO_POLL_SECONDS: '1', VIDEO_POLL_SECONDS_MAX: '5' };
