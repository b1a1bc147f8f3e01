import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { isApiKey, makeApiKey } from '../lambdas/core/accounts/api-key.ts';
import { parseUsd } from '../lambdas/core/money/usd.ts';

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

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port from 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port from 0 to 65535');

/** What only the local program reads; everything else goes on to the functions, which check it themselves. */
const schema = z.object({
  PORT: port.default(8787),
  DATA_DIR: z.string().default('.local'),
  LOCAL_API_KEY: z
    .string()
    .refine(isApiKey, { error: () => `is no well-formed key; one that is: ${makeApiKey(randomBytes(32))}` })
    .optional(),
  LOCAL_BALANCE_USD: amount.default('10'),
  /** How often expired holds are released and waiting notes settled. AWS does it every minute. */
  SWEEP_SECONDS: z.coerce.number().int().min(1).max(3_600).default(10),
  DYNAMODB_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:8000' }).optional(),
  S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:9000' }).optional(),
});

export type LocalSettings = z.output<typeof schema>;

/** Throws an Error with one line per variable that is wrong. */
export const readLocalSettings = (environment: Readonly<Record<string, string | undefined>>): LocalSettings => {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
};

/** Simulated vendors are done in seconds, so that they are asked more often than real ones; whoever sets a time has the usual others. */
export const localVideoTimes = (
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  environment.VIDEO_POLL_SECONDS || environment.VIDEO_POLL_SECONDS_MAX
    ? {}
    : { VIDEO_POLL_SECONDS: '1', VIDEO_POLL_SECONDS_MAX: '5' };
