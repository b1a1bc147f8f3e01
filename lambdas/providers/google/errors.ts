import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { TextProtocol } from '../../core/text/conversation.ts';
import { UnchargedOutput } from '../../core/text/uncollected-text.ts';
import { byRequest, type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

const text = z.string().catch('');

/**
 * https://cloud.google.com/apis/design/errors#error_model. Details have many types. The members read here are those of
 * ErrorInfo, BadRequest, QuotaFailure and RetryInfo in google/rpc/error_details.proto.
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
 * Parses an error body. The error of a refused stream can be the only item of a list.
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

/** Messages match from their start where possible, because they quote the client's text further on. */
const rules: Omit<RefusalRules, 'promptParam'> = {
  ours: /API_KEY_|BILLING_DISABLED|CONSUMER_|SERVICE_DISABLED|ACCESS_TOKEN_|QUOTA_SPENT/,
  oursInWords:
    /^API key (?:not valid|expired|not found)|^Your prepayment credits|^This API method requires billing|^User location is not supported/i,
  context: /The input token count .{0,40}exceeds the maximum/i,
  filter: /(?!)/,
  image:
    /^Unable to process input image|^Provided image is not valid|^Unsupported MIME type: image\/|MIME type must be image\/png/i,
};

/**
 * Status 403 for a provider file in the client's request, which is not about the provider key.
 * https://github.com/googleapis/python-genai/issues/1218
 */
const aboutFile = /^You do not have permission to access the File|^CachedContent not found/;

/** Protocol of the client's request. */
export type AskedIn = TextProtocol | 'images';

/** Name of the prompt, by protocol. In all other protocols, the name is `messages`. */
const promptParams: Partial<Record<AskedIn, string>> = { generate_content: 'contents', images: 'prompt' };

/**
 * Error of a refusal in the client's protocol. The provider's field names are kept only if the client uses the
 * provider's protocol.
 */
export const toGoogleError = (
  httpStatus: number,
  { refusal, quota }: GoogleRefusal,
  refusalContext: RefusalContext,
  protocol: AskedIn,
): GatewayError => {
  const promptParam = promptParams[protocol] ?? 'messages';
  const status = httpStatus === 403 && aboutFile.test(refusal.message) ? 400 : httpStatus;
  const code = status === 429 && quota.isSpent ? `${refusal.code} QUOTA_SPENT` : refusal.code;
  const field = protocol === 'generate_content' ? refusal.param : undefined;
  const param = field ?? (rules.context.test(refusal.message) ? promptParam : undefined);
  const { retryAfterSeconds = refusalContext.retryAfterSeconds } = quota;
  return toGatewayError(
    status,
    { ...refusal, code, param },
    { ...refusalContext, retryAfterSeconds },
    { ...rules, promptParam },
  );
};

/** Error inside a response that started successfully. Its own code replaces the status. */
export const toInBandError = (body: unknown, refusalContext: RefusalContext, protocol: AskedIn): GatewayError => {
  const found = parseRefusal(body);
  return toGoogleError(found.status ?? 500, found, refusalContext, protocol);
};

/**
 * Error for output that stopped for a reason other than its end or a filter, with the provider's counts. A prompt can
 * cause it, such as one for a malformed call, so the circuit does not count it (FALL-1).
 */
export const brokenOff = (reason: string, usage: TokenUsage | undefined): GatewayError => {
  const named = /^[A-Z_]{1,64}$/.test(reason) ? ` (${reason})` : '';
  return new UnchargedOutput(
    'upstream_error',
    `The provider stopped its response${named}. Nothing was charged. Retry the request.`,
    usage,
    byRequest,
  );
};

export const noImage = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned an invalid image. Nothing was charged. Retry the request.');

/**
 * Error for a response of only text. The provider works, so the circuit does not count it: a single prompt must not
 * disable its model for all clients (ERR-9).
 */
export const noImageDrawn = (): GatewayError =>
  new GatewayError('upstream_error', 'The model returned no image. Nothing was charged. Retry the request.', {
    upstreamFailed: false,
  });

/** Members of google.rpc.QuotaFailure and google.rpc.RetryInfo. Empty if absent. */
interface QuotaDetail {
  readonly violations: readonly { readonly quotaId: string }[];
  readonly retryDelay: string;
}

interface Quota {
  /** Whether the quota does not return within minutes, such as a daily quota or spent credit. */
  readonly isSpent: boolean;
  readonly retryAfterSeconds: number | undefined;
}

/**
 * Google uses the same message for a rate that is too high and for a used-up quota: "You exceeded your current quota,
 * please check your plan and billing details". Observed differences:
 * - The quota id names the period. A daily quota also has a RetryInfo of seconds, which is wrong:
 *   https://github.com/diegosouzapw/OmniRoute/issues/9504
 * - A limit of 0 means that the account's tier does not have the model:
 *   https://github.com/continuedev/continue/issues/9570
 * - A quota with neither an id nor a retry time is used up until midnight:
 *   https://github.com/gke-labs/gemini-for-kubernetes-development/issues/1215
 * - Spent credit was a 429 before it became a 402: https://discuss.ai.google.dev/t/183654
 *
 * "Resource has been exhausted (e.g. check quota)." without details means a wait of minutes:
 * https://github.com/googleapis/python-genai/issues/2065
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

/** Duration in protobuf form, such as `26s` or `20.044s`, limited as in ERR-2. Undefined for any other text. */
const secondsOf = (duration: string): number | undefined => {
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(duration) ?? [];
  return seconds === undefined ? undefined : Math.min(300, Math.max(1, Math.ceil(Number(seconds))));
};
