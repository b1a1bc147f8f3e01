import * as z from 'zod';
import type { KeyChange } from '../../core/accounts/key-change.ts';
import { capKinds } from '../../core/accounts/key-ring.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { PICOS_PER_USD } from '../../core/money/usd.ts';
import { usdAmount } from '../optional-fields.ts';
import { listOf, parseWith, showAs } from '../parse.ts';

const NAME_CHARACTERS_MAX = 64;
const MODELS_MAX = 50;

const NAME_RULE = `must have 1 to ${NAME_CHARACTERS_MAX} characters without control characters`;
const name = showAs(
  z
    .string('must be a string')
    .trim()
    .regex(new RegExp(`^[^\\p{Cc}]{1,${NAME_CHARACTERS_MAX}}$`, 'u'), NAME_RULE),
  { kind: 'schema', schema: { type: 'string', minLength: 1, maxLength: NAME_CHARACTERS_MAX } },
);

const TIME_RULE = 'must be a time such as 2026-12-31T00:00:00Z';
const time = showAs(
  z.iso.datetime({ offset: true, error: TIME_RULE }).transform((text) => Date.parse(text)),
  { kind: 'schema', schema: { type: 'string', format: 'date-time' } },
);

const RATE_MIN = 0.1;
const RATE_RULE = `must be a number of at least ${RATE_MIN} with at most one decimal`;
const rate = showAs(
  z.number(RATE_RULE).refine((value) => value >= RATE_MIN && Math.round(value * 10) / 10 === value, RATE_RULE),
  { kind: 'schema', schema: { type: 'number', minimum: RATE_MIN, multipleOf: RATE_MIN } },
);

const MODELS_RULE = 'must have at least one model id. Send null for all models';

const settings = {
  limit_usd: usdAmount({ leastPicos: 1n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '25' }).nullish(),
  limit_period: z.enum(capKinds).nullish(),
  expires_at: time.nullish(),
  models: listOf(z.string('must be a string').min(1).max(200), {
    min: 1,
    max: MODELS_MAX,
    message: MODELS_RULE,
  }).nullish(),
  requests_per_second: rate.nullish(),
  rights: listOf(z.literal('manage'), { max: 1, message: 'must be an array of rights' }).optional(),
};

/** Body of POST /api/keys. */
export const createKeyBody = z.strictObject({ name, ...settings });

/** Body of PATCH /api/keys/{id}. */
export const editKeyBody = z.strictObject({ name: name.optional(), ...settings });

/** Throws 400 by field. */
export const readNewKey = (body: unknown): KeyChange & { readonly name: string } => {
  const parsed = parseWith(createKeyBody, body);
  return { ...toChange(parsed), name: parsed.name };
};

/** Throws 400 by field, and for a body without a change. */
export const readKeyChange = (body: unknown): KeyChange => {
  const change = toChange(parseWith(editKeyBody, body));
  if (Object.values(change).some((value) => value !== undefined)) return change;
  throw invalidRequest('name', `The body has no change. Send one of ${Object.keys(editKeyBody.shape).join(', ')}.`);
};

const toChange = (body: z.output<typeof editKeyBody>): KeyChange => ({
  name: body.name,
  limitPicos: body.limit_usd,
  limitPeriod: body.limit_period,
  expiresAtMs: body.expires_at,
  models: body.models,
  rate: body.requests_per_second,
  manage: body.rights?.includes('manage'),
});

/**
 * Returns the version that the client has seen; undefined if it sent no `If-Match`, or `*`. CloudFront can weaken an
 * ETag when it compresses a response, so a weak one is accepted.
 */
export const readVersion = ({ 'if-match': sent }: Readonly<Record<string, string | undefined>>): number | undefined => {
  if (sent === undefined || sent.trim() === '*') return undefined;
  const [, version] = /^(?:W\/)?"(\d{1,15})"$/.exec(sent.trim()) ?? [];
  if (version !== undefined) return Number(version);
  throw invalidRequest('if-match', 'if-match: must be the ETag of one API key, such as "3".');
};
