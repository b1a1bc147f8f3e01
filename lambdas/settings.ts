import * as z from 'zod';
import { BODY_BUDGET_BYTES_DEFAULT } from './limits.ts';

const whole = (least: number, most: number, standard: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error }).default(standard);
};

const otlpProtocol = z.enum(['http/json'], { error: 'must be http/json. The gateway sends no other form' }).optional();

const otlpEndpoint = (example: string) =>
  z.url({ protocol: /^https?$/, error: `must be a URL such as ${example}` }).optional();

const oneOf = <const Choice extends string>(...choices: readonly Choice[]) =>
  z.enum(choices, { error: `must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}` });

const share = 'must be a number from 0 to 1';

/** Decimal amount in USD below a million. */
const usd = z
  .string()
  .regex(/^(0|[1-9]\d{0,5})(\.\d{1,12})?$/, 'must be an amount in USD from 0 to below 1000000, such as 1.25');

/**
 * All environment variables that a function reads. The stacks must satisfy `SettingsInput`, so they cannot omit a
 * required variable. Provider keys are not here: the catalog names their variables.
 */
export const settingsSchema = z.object({
  ACCOUNTS_TABLE: z.string().min(1),
  KEYS_TABLE: z.string().min(1),
  COUNTERS_TABLE: z.string().min(1),
  IDEMPOTENCY_TABLE: z.string().min(1),
  VIDEOS_TABLE: z.string().min(1),
  /** Bucket of the outbox, large responses and media. */
  MEDIA_BUCKET: z.string().min(1),
  /** Start of image URLs, before `/media/`. Only functions that create such URLs need it. */
  MEDIA_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** DynamoDB endpoint, if it is not that of the function's region. */
  DYNAMODB_ENDPOINT: z.url().optional(),
  /** S3 endpoint, if it is not that of the function's region. */
  S3_ENDPOINT: z.url().optional(),
  /** State machine that runs videos. Only functions that start executions have it. */
  VIDEO_MACHINE_ARN: z.string().min(1).optional(),
  /** Step Functions endpoint, if it is not that of the function's region. */
  SFN_ENDPOINT: z.url().optional(),
  /**
   * Peppers for the hashes of API keys or, in AWS, the name of the secret that holds them; exactly one of the two.
   * Several peppers are on separate lines: new API keys use the first, and keys under the others stay valid (AUTH-5).
   */
  KEY_PEPPER: z.string().min(16).optional(),
  KEY_PEPPER_SECRET: z.string().min(1).optional(),
  /** Token of the messenger's bot, or the name of the secret that holds it. Without it there is no bot. */
  BOT_TOKEN: z
    .string()
    .regex(/^\d+:[\w-]+$/, 'must be a bot token such as 123456:ABC-DEF')
    .optional(),
  BOT_TOKEN_SECRET: z.string().min(1).optional(),
  /** URL of the messenger's Bot API. */
  BOT_API_URL: z.url({ protocol: /^https?$/ }).default('https://api.telegram.org'),
  /** Key that signs reported payments, or the name of the secret that holds it. Without it no payment is accepted. */
  TOP_UP_KEY: z.string().min(16).optional(),
  TOP_UP_KEY_SECRET: z.string().min(1).optional(),
  /** Text of `/topup`, or the link that it shows. `{account}` is replaced by the account id. */
  TOP_UP_TEXT: z.string().min(1).max(1_000).optional(),
  /** Credit that a new account gets at `/start`, as a decimal amount in USD. */
  START_CREDIT_USD: usd.default('0'),
  /** Base URL for clients, without a path. The bot shows it, and the mini app is served there. */
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * Name of the SSM parameter with the base URL. It replaces PUBLIC_URL if the URL is known only after the front door
   * is deployed.
   */
  PUBLIC_URL_PARAMETER: z.string().min(1).optional(),
  /** Front door of this function (AUTH-9, LIM-7). */
  FRONT_DOOR: z.enum(['cloudfront', 'api-gateway', 'none']).default('none'),
  /**
   * Secret that the edge sends to this function, or the name of the secret that holds it. Exactly one of the two is set
   * if there is an edge.
   */
  ORIGIN_SECRET: z.string().min(16).optional(),
  ORIGIN_SECRET_SECRET: z.string().min(1).optional(),
  /** Time that the edge waits for a response that sends nothing (CHAT-11, ERR-6). */
  EDGE_TIMEOUT_SECONDS: whole(30, 600, 120),
  /**
   * Behind the edge: `true` starts a plain response before its status is known, `false` ends it in time with 504
   * (ERR-6).
   */
  EDGE_JSON_KEEP_ALIVE: z.enum(['true', 'false']).default('true'),
  /** Name or ARN of the event bus that gets usage events. Only the function that publishes them has it. */
  USAGE_EVENTS_BUS: z.string().min(1).optional(),
  /** `source` of usage events, which distinguishes the environments of an owner. */
  USAGE_EVENTS_SOURCE: z
    .string()
    .regex(/^[A-Za-z][\w.-]{0,63}$/, 'must start with a letter and have at most 64 letters, digits and . _ -')
    .default('gateway-local'),
  /** EventBridge endpoint, if it is not that of the function's region. */
  EVENTS_ENDPOINT: z.url().optional(),
  /** Name of the secret with the API key of the canary. Only the canary has it. */
  CANARY_KEY_SECRET: z.string().min(1).optional(),
  /** URL that bypasses the front door and must refuse the canary. */
  CANARY_DIRECT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Companies whose models are served, separated by commas. Without it the whole catalog is served. */
  CATALOGS: z
    .string()
    .regex(/^[a-z-]+(,[a-z-]+)*$/)
    .optional(),
  /**
   * Name of the secret with the provider keys, a JSON object by variable name. Without it the keys are in the
   * environment.
   */
  PROVIDER_KEYS_SECRET: z.string().min(1).optional(),
  /** Rates per client IP and per API key (LIM-1, LIM-2). */
  LIMIT_ADDRESS_PER_SECOND: whole(1, 1_000_000, 30),
  LIMIT_ADDRESS_BURST: whole(1, 1_000_000, 60),
  LIMIT_KEY_PER_SECOND: whole(1, 1_000_000, 10),
  LIMIT_KEY_BURST: whole(1, 1_000_000, 15),
  /** Time that a hold outlives the deadline of the provider call (BILL-13). */
  HOLD_GRACE_SECONDS: whole(1, 86_400, 300),
  /**
   * Form of new holds in the account item. `map`, while functions of an older release run beside these or a rollback to
   * one is possible.
   */
  HOLD_FORMAT: z.enum(['packed', 'map']).default('packed'),
  /**
   * Allowance of an account and UTC day for the cost of requests that end without a charge, as a decimal amount in
   * USD (BILL-21).
   */
  UNCOLLECTED_DAILY_USD: usd.default('1'),
  /** Deadline of the provider call, if shorter than the 600 or 900 s of LIM-6. */
  UPSTREAM_DEADLINE_SECONDS: whole(1, 900, 900),
  /** Consecutive failures in one process that open a model's circuit there (ERR-9). */
  CIRCUIT_FAILURES: whole(1, 1_000_000, 5),
  /**
   * Least number of calls in the window shared by all processes at which failures can open the circuit for all of them.
   */
  CIRCUIT_CALLS: whole(1, 1_000_000, 10),
  /** Time that a circuit stays open after it first opens. After later openings the time is longer. */
  CIRCUIT_OPEN_SECONDS: whole(1, 300, 30),
  /** Time that a provider has to accept a video. */
  VIDEO_CREATE_SECONDS: whole(1, 100, 60),
  /** Time between the first polls of a video. Later intervals grow up to the maximum. */
  VIDEO_POLL_SECONDS: whole(1, 600, 10),
  VIDEO_POLL_SECONDS_MAX: whole(1, 600, 60),
  /** Age at which a video fails (VID-7). */
  VIDEO_LIMIT_SECONDS: whole(1, 86_400, 3_600),
  /** Lifetime of a video's hold (BILL-13): longer than the limit plus all retries of the last steps. */
  VIDEO_HOLD_SECONDS: whole(1, 172_800, 7_200),
  /** Wait before the first retry of a failed video step. Later waits are longer. */
  VIDEO_RETRY_SECONDS: whole(1, 60, 2),
  /** Wait before the first retry of a webhook that was not accepted. */
  VIDEO_WEBHOOK_RETRY_SECONDS: whole(1, 600, 10),
  /** Lease of an idempotency claim: time after the last renewal before another request may take over (IDEM-8). */
  CLAIM_LEASE_SECONDS: whole(1, 600, 60),
  /** Memory for request bodies in one process, in bytes (GEN-14). */
  BODY_BUDGET_BYTES: whole(1, 1_073_741_824, BODY_BUDGET_BYTES_DEFAULT),
  /** Factor on every list price, as a decimal. */
  MARKUP: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .default('1'),
  /** Name of this function in its log. */
  FUNCTION_NAME: z.string().min(1).optional(),
  /** Collector of traces: base URL, to which `v1/traces` is added. Without one no trace is exported (OPS-19). */
  OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint('http://127.0.0.1:4318'),
  /** Complete URL for traces, which replaces OTEL_EXPORTER_OTLP_ENDPOINT. */
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: otlpEndpoint('http://127.0.0.1:4318/v1/traces'),
  /** The gateway sends JSON only, which every collector accepts at its HTTP port. */
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol,
  /** Name of this service in traces. */
  OTEL_SERVICE_NAME: z.string().min(1).optional(),
  OTEL_TRACES_SAMPLER: oneOf(
    'always_on',
    'always_off',
    'traceidratio',
    'parentbased_always_on',
    'parentbased_always_off',
    'parentbased_traceidratio',
  ).default('parentbased_always_on'),
  /** Share of the traces that a ratio sampler exports. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number({ error: share })
    .min(0, { error: share })
    .max(1, { error: share })
    .default(1),
  /** `none` turns traces off. */
  OTEL_TRACES_EXPORTER: oneOf('otlp', 'none').default('otlp'),
  /** `true` turns traces off. */
  OTEL_SDK_DISABLED: z.string().optional(),
  /** `json` for a log service, `line` for a person. */
  LOG_FORMAT: z.enum(['json', 'line']).default('json'),
});

export type Settings = z.output<typeof settingsSchema>;
export type SettingsInput = z.input<typeof settingsSchema>;

/** Reports invalid environment variables. The message has one line per variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Throws a SettingsError. An empty variable counts as absent. */
export const readSettings = (environment: Readonly<Record<string, string | undefined>>): Settings => {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = settingsSchema.safeParse(present, { jitless: true });
  if (parsed.success) return parsed.data;
  throw toSettingsError(parsed.error);
};

export const toSettingsError = ({ issues }: z.core.$ZodError): SettingsError =>
  new SettingsError(issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
