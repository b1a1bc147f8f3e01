import * as z from 'zod';
import { BODY_BUDGET_BYTES_DEFAULT } from './limits.ts';

const whole = (least: number, most: number, standard: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error }).default(standard);
};

/**
 * Every environment variable a function reads. The stacks must satisfy `SettingsInput`, so that a variable that is needed cannot
 * be forgotten there. Keys of vendors are not here: their names stand in the catalog.
 */
export const settingsSchema = z.object({
  ACCOUNTS_TABLE: z.string().min(1),
  KEYS_TABLE: z.string().min(1),
  COUNTERS_TABLE: z.string().min(1),
  IDEMPOTENCY_TABLE: z.string().min(1),
  VIDEOS_TABLE: z.string().min(1),
  /** Holds the outbox, large answers, and media. */
  MEDIA_BUCKET: z.string().min(1),
  /** What links to images begin with, before `/media/`; for functions that make such links. */
  MEDIA_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Another DynamoDB than that of the function's own region. */
  DYNAMODB_ENDPOINT: z.url().optional(),
  /** Another S3 than that of the function's own region. */
  S3_ENDPOINT: z.url().optional(),
  /** The state machine that brings videos to their end; only functions that start executions have it. */
  VIDEO_MACHINE_ARN: z.string().min(1).optional(),
  /** Another Step Functions than that of the function's own region. */
  SFN_ENDPOINT: z.url().optional(),
  /**
   * What API keys are hashed with; or, in AWS, the name of the secret that holds it. One of the two. More than one stand on lines of
   * their own: new keys take the first, and keys of the others are still known (AUTH-5).
   */
  KEY_PEPPER: z.string().min(16).optional(),
  KEY_PEPPER_SECRET: z.string().min(1).optional(),
  /** The token of the messenger's bot, or the name of the secret that holds it; without one there is no bot. */
  BOT_TOKEN: z
    .string()
    .regex(/^\d+:[\w-]+$/, 'must be a bot token such as 123456:ABC-DEF')
    .optional(),
  BOT_TOKEN_SECRET: z.string().min(1).optional(),
  /** Where the messenger's Bot API answers. */
  BOT_API_URL: z.url({ protocol: /^https?$/ }).default('https://api.telegram.org'),
  /** What payments are reported with, signed; or the name of the secret that holds it. Without one nobody can. */
  TOP_UP_KEY: z.string().min(16).optional(),
  TOP_UP_KEY_SECRET: z.string().min(1).optional(),
  /** What `/topup` says, or the link that it shows; `{account}` stands for the account's id. */
  TOP_UP_TEXT: z.string().min(1).max(1_000).optional(),
  /** What an account has that begins with `/start`: a decimal amount in USD. */
  START_CREDIT_USD: z
    .string()
    .regex(/^(0|[1-9]\d{0,5})(\.\d{1,12})?$/)
    .default('0'),
  /** The address that clients use, without a path: what the bot tells them, and where the mini app is. */
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** In place of PUBLIC_URL, where the address is known only once the front door stands: the name of the SSM parameter with it. */
  PUBLIC_URL_PARAMETER: z.string().min(1).optional(),
  /** What stands before this function (AUTH-9, LIM-7). */
  FRONT_DOOR: z.enum(['cloudfront', 'api-gateway', 'none']).default('none'),
  /** What the edge proves itself with, or the name of the secret that holds it; one of the two where there is an edge. */
  ORIGIN_SECRET: z.string().min(16).optional(),
  ORIGIN_SECRET_SECRET: z.string().min(1).optional(),
  /** How long the edge waits for an answer that is silent (CHAT-11, ERR-6). */
  EDGE_TIMEOUT_SECONDS: whole(30, 600, 120),
  /** Behind the edge: whether a plain answer is begun before its status is known, or ends as 504 in time (ERR-6). */
  EDGE_JSON_KEEP_ALIVE: z.enum(['true', 'false']).default('true'),
  /** Companies whose models are served, by comma; all of the catalog when there are none. */
  CATALOGS: z
    .string()
    .regex(/^[a-z-]+(,[a-z-]+)*$/)
    .optional(),
  /** The name of the secret with the vendors' keys, a JSON object by variable name; without it they are in the environment. */
  PROVIDER_KEYS_SECRET: z.string().min(1).optional(),
  /** LIM-1 and LIM-2. */
  LIMIT_ADDRESS_PER_SECOND: whole(1, 1_000_000, 30),
  LIMIT_ADDRESS_BURST: whole(1, 1_000_000, 60),
  LIMIT_KEY_PER_SECOND: whole(1, 1_000_000, 10),
  LIMIT_KEY_BURST: whole(1, 1_000_000, 15),
  /** How long a hold outlives the upstream's deadline (BILL-13). */
  HOLD_GRACE_SECONDS: whole(1, 86_400, 300),
  /** A shorter upstream deadline than the 600 or 900 s of LIM-6. */
  UPSTREAM_DEADLINE_SECONDS: whole(1, 900, 900),
  /** Failures in a row, in one process, that open a model's circuit there (ERR-9). */
  CIRCUIT_FAILURES: whole(1, 1_000_000, 5),
  /** Calls in the window that all processes share before the part that failed can open the circuit for everyone. */
  CIRCUIT_CALLS: whole(1, 1_000_000, 10),
  /** How long a circuit stays open the first time; later times are longer. */
  CIRCUIT_OPEN_SECONDS: whole(1, 300, 30),
  /** What a vendor has to accept a video. */
  VIDEO_CREATE_SECONDS: whole(1, 100, 60),
  /** Between the first polls of a video; later ones are up to the maximum apart. */
  VIDEO_POLL_SECONDS: whole(1, 600, 10),
  VIDEO_POLL_SECONDS_MAX: whole(1, 600, 60),
  /** An older video fails (VID-7). */
  VIDEO_LIMIT_SECONDS: whole(1, 86_400, 3_600),
  /** How long a video's hold lives (BILL-13): beyond the limit and all repeats of the last steps. */
  VIDEO_HOLD_SECONDS: whole(1, 172_800, 7_200),
  /** The first wait before a failed step of a video is repeated; later ones are longer. */
  VIDEO_RETRY_SECONDS: whole(1, 60, 2),
  /** The same for a webhook that was not taken. */
  VIDEO_WEBHOOK_RETRY_SECONDS: whole(1, 600, 10),
  /** How long a claim is safe from others after its owner's last sign of life (IDEM-8). */
  CLAIM_LEASE_SECONDS: whole(1, 600, 60),
  /** Memory for request bodies in one process, in bytes (GEN-14). */
  BODY_BUDGET_BYTES: whole(1, 1_073_741_824, BODY_BUDGET_BYTES_DEFAULT),
  /** Factor on every list price, a decimal. */
  MARKUP: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .default('1'),
  /** What this function is called in its log. */
  FUNCTION_NAME: z.string().min(1).optional(),
  /** `json` for a log service, `line` for a person. */
  LOG_FORMAT: z.enum(['json', 'line']).default('json'),
});

export type Settings = z.output<typeof settingsSchema>;
export type SettingsInput = z.input<typeof settingsSchema>;

/** The environment of the process is wrong. The message has one line per variable. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Throws a SettingsError. An empty variable counts as absent. */
export const readSettings = (environment: Readonly<Record<string, string | undefined>>): Settings => {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = settingsSchema.safeParse(present);
  if (parsed.success) return parsed.data;
  throw toSettingsError(parsed.error);
};

export const toSettingsError = ({ issues }: z.core.$ZodError): SettingsError =>
  new SettingsError(issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
