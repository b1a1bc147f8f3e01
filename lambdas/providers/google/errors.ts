import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { TextProtocol } from '../../core/text/conversation.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

const text = z.string().catch('');

/**
 * https://cloud.google.com/apis/design/errors#error_model. The details are of many types; these are the members read here:
 * ErrorInfo, BadRequest, QuotaFailure and RetryInfo of google/rpc/error_details.proto.
 */
const detail = z.object({
  reason: text,
  fieldViolations: z.array(z.object({ field: text })).catch([]),
  violations: z.array(z.object({ quotaId: text })).catch([]),
  retryDelay: text,
});

const errorBody = z.object({
  error: z.object({
    code: z.int().optional().catch(undefined),
    message: text,
    status: text,
    details: z.array(detail.catch({ reason: '', fieldViolations: [], violations: [], retryDelay: '' })).catch([]),
  }),
});

interface GoogleRefusal {
  readonly status: number | undefined;
  readonly refusal: Refusal;
  readonly quota: Quota;
}

const silent: GoogleRefusal = {
  status: undefined,
  refusal: { message: '', type: '', param: undefined, code: '' },
  quota: { isSpent: false, retryAfterSeconds: undefined },
};

/**
 * Parses an error. A rejected stream in list form is a list of one. Source:
 * https://github.com/niki914/zafiro/issues/100
 */
export const parseRefusal = (body: unknown): GoogleRefusal => {
  const parsed = errorBody.safeParse(Array.isArray(body) ? body[0] : body);
  if (!parsed.success) return silent;
  const { code, message, status, details } = parsed.data.error;
  const field = details.flatMap(({ fieldViolations }) => fieldViolations).find((violation) => violation.field !== '');
  const reasons = details.flatMap(({ reason }) => (reason === '' ? [] : [reason]));
  return {
    status: code,
    refusal: { message, type: status, param: field?.field, code: reasons.join(' ') },
    quota: findQuota(message, details),
  };
};

/** The messages are anchored where they can be: what a client wrote is quoted further on. */
const rules: Omit<RefusalRules, 'promptParam'> = {
  ours: /API_KEY_|BILLING_DISABLED|CONSUMER_|SERVICE_DISABLED|ACCESS_TOKEN_|QUOTA_SPENT/,
  oursInWords:
    /^API key (?:not valid|expired|not found)|^Your prepayment credits|^This API method requires billing|^User location is not supported/i,
  context: /The input token count .{0,40}exceeds the maximum/i,
  filter: /(?!)/,
  image:
    /^Unable to process input image|^Provided image is not valid|^Unsupported MIME type: image\/|MIME type must be image\/png/i,
};

/** 403 for a file of the vendor's that a client named: no matter of our key. https://github.com/googleapis/python-genai/issues/1218 */
const aboutFile = /^You do not have permission to access the File|^CachedContent not found/;

/** Protocol of the client's request. */
export type AskedIn = TextProtocol | 'images';

/** Name of the prompt per protocol; `messages` in all others. */
const promptParams: Partial<Record<AskedIn, string>> = { generate_content: 'contents', images: 'prompt' };

/** A refusal in the terms of the client's protocol: only where that is the vendor's own are its names of fields the client's. */
export const toGoogleError = (
  httpStatus: number,
  { refusal, quota }: GoogleRefusal,
  told: RefusalContext,
  protocol: AskedIn,
): GatewayError => {
  const promptParam = promptParams[protocol] ?? 'messages';
  const status = httpStatus === 403 && aboutFile.test(refusal.message) ? 400 : httpStatus;
  const code = status === 429 && quota.isSpent ? `${refusal.code} QUOTA_SPENT` : refusal.code;
  const field = protocol === 'generate_content' ? refusal.param : undefined;
  const param = field ?? (rules.context.test(refusal.message) ? promptParam : undefined);
  const { retryAfterSeconds = told.retryAfterSeconds } = quota;
  return toGatewayError(status, { ...refusal, code, param }, { ...told, retryAfterSeconds }, { ...rules, promptParam });
};

/** Converts an error inside a response that started well; its own number replaces the status. */
export const toInBandError = (body: unknown, told: RefusalContext, protocol: AskedIn): GatewayError => {
  const found = parseRefusal(body);
  return toGoogleError(found.status ?? 500, found, told, protocol);
};

/** The model broke off for a reason that is neither its end nor a filter. */
export const brokenOff = (reason: string): GatewayError => {
  const named = /^[A-Z_]{1,64}$/.test(reason) ? ` (${reason})` : '';
  return new GatewayError(
    'upstream_error',
    `The provider stopped its response${named}. Nothing was charged. Retry the request.`,
  );
};

export const noImage = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned an invalid image. Nothing was charged. Retry the request.');

/** A vendor that answers in words works: a prompt must not be able to close its model for everybody (ERR-9). */
export const noImageDrawn = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned no image. Nothing was charged. Retry the request.', {
    upstreamFailed: false,
  });

/** Members of google.rpc.QuotaFailure and google.rpc.RetryInfo, empty where there are none. */
interface QuotaDetail {
  readonly violations: readonly { readonly quotaId: string }[];
  readonly retryDelay: string;
}

interface Quota {
  /** It does not come back within minutes: a day's quota, or money. */
  readonly isSpent: boolean;
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Google words a rate that is too high and a quota that is used up alike: "You exceeded your current quota, please check your plan
 * and billing details". What was seen to tell them apart:
 * - the quota's id names the period. A day's comes with a RetryInfo of seconds, too, which is not to be believed:
 *   https://github.com/diegosouzapw/OmniRoute/issues/9504
 * - a limit of 0 is a model that the account's tier does not have: https://github.com/continuedev/continue/issues/9570
 * - without a quota's id and without a time to come back it lasts till midnight:
 *   https://github.com/gke-labs/gemini-for-kubernetes-development/issues/1215
 * - credit that is used up was 429 before it was 402: https://discuss.ai.google.dev/t/183654
 * "Resource has been exhausted (e.g. check quota)." alone is a matter of minutes: https://github.com/googleapis/python-genai/issues/2065
 */
const findQuota = (message: string, details: readonly QuotaDetail[]): Quota => {
  const quotaIds = details.flatMap(({ violations }) => violations.map(({ quotaId }) => quotaId));
  const retryAfterSeconds = secondsOf(details.find(({ retryDelay }) => retryDelay !== '')?.retryDelay ?? '');
  const comesBack = retryAfterSeconds !== undefined || /please retry in \d/i.test(message) || quotaIds.some(isShort);
  const isSpent =
    quotaIds.some((id) => /PerDay/i.test(id)) ||
    /, limit: 0\b|prepayment credits|spend(?:ing)?[- ](?:cap|limit|based)/i.test(message) ||
    (/^You exceeded your current quota/i.test(message) && !comesBack);
  return { isSpent, retryAfterSeconds };
};

const isShort = (quotaId: string): boolean => /Per(?:Second|Minute)/i.test(quotaId);

/** A duration as protobuf writes it, `26s` or `20.044s`, within the bounds of ERR-2. */
const secondsOf = (duration: string): number | undefined => {
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(duration) ?? [];
  return seconds === undefined ? undefined : Math.min(300, Math.max(1, Math.ceil(Number(seconds))));
};
