import type { ErrorCode } from '../core/errors/error-codes.ts';
import { type ErrorDetails, GatewayError } from '../core/errors/gateway-error.ts';
import type { ProviderEvent } from '../core/metrics.ts';
import { answerTokensOf, type TokenUsage } from '../core/pricing/charge.ts';
import { UnchargedOutput } from '../core/text/uncollected-text.ts';

/** Contents of a provider's error response. Absent members are empty. */
export interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly param: string | undefined;
  readonly code: string;
}

export interface RefusalContext {
  readonly retryAfterSeconds: number;
  /** Provider key, which must never be shown if the provider quotes it. */
  readonly secret: string;
  readonly notice: (notice: ProviderEvent) => void;
  /**
   * Reports a 429 and its seconds. Returns whether another credential of the provider is free. Undefined if calls
   * can use no other one.
   */
  readonly limited?: ((seconds: number) => boolean) | undefined;
}

/**
 * Patterns of one provider for errors that its status does not distinguish. Codes and types are matched as one text,
 * `<code> <type>`.
 */
export interface RefusalRules {
  /**
   * Errors about the gateway's own provider key or credit, by code or type alone, because a message may quote the
   * client's request.
   */
  readonly ours: RegExp;
  /** Errors about the gateway's account, by a message that names no field. */
  readonly oursInWords: RegExp;
  /** Context length errors, by code, type or message. */
  readonly context: RegExp;
  /** Filter errors, by code or type alone. */
  readonly filter: RegExp;
  /** Image errors, by message. */
  readonly image: RegExp;
  /**
   * Errors about the output that a prompt led to, by code or type alone. The circuit ignores them, and they use the
   * allowance (BILL-21).
   */
  readonly output?: RegExp;
  /** Name of the prompt in the client's protocol. */
  readonly promptParam: string;
  /** Client's HTTP status for a 529 of the provider, if it is not that of `upstream_capacity`. */
  readonly overloadedStatus?: number | undefined;
}

/** Whether the provider rejected the gateway's account and not the client's request (ERR-3). */
const isAboutUs = (status: number, { code, type, message, param }: Refusal, rules: RefusalRules): boolean =>
  [401, 402, 403].includes(status) ||
  rules.ours.test(`${code} ${type}`) ||
  // A message about a field concerns the client's request, whatever it quotes.
  (param === undefined && rules.oursInWords.test(message));

/** Maps a refusal to the client's error (ERR-9). The first matching case wins. */
export const toGatewayError = (
  status: number,
  refusal: Refusal,
  context: RefusalContext,
  rules: RefusalRules,
): GatewayError => {
  // A filter can use a status that otherwise concerns the gateway's account.
  if (status < 500 && rules.filter.test(`${refusal.code} ${refusal.type}`))
    return refused(refusal, context.secret, rules);
  if (isAboutUs(status, refusal, rules)) {
    context.notice('vendor_refused_us');
    return notAvailable();
  }
  if (status === 400 || status === 413 || status === 422) return refused(refusal, context.secret, rules);
  if (status === 404) {
    context.notice('vendor_model_missing');
    return new GatewayError(
      'model_unavailable',
      'The provider does not offer this model at present. Use another model.',
      {
        param: 'model',
      },
    );
  }
  if (status === 429) return overloaded(status, context);
  if (status === 529) return overloaded(status, context, rules.overloadedStatus);
  if (status === 503) return notAvailable({ upstreamFailed: true });
  if (status === 504)
    return new GatewayError(
      'upstream_timeout',
      'The provider did not respond in time. Nothing was charged. Retry the request.',
    );
  const message = 'The provider returned an error. Nothing was charged. Retry the request.';
  return rules.output?.test(`${refusal.code} ${refusal.type}`)
    ? new UnchargedOutput('upstream_error', message, undefined, byRequest)
    : new GatewayError('upstream_error', message);
};

/** A 529 concerns all clients of the provider, so only a 429 cools the credential down (ERR-10). */
const overloaded = (
  status: 429 | 529,
  { retryAfterSeconds, limited }: RefusalContext,
  clientStatus?: number,
): GatewayError => {
  // Codex parses the seconds in this text from an error in a stream.
  const message = `The provider is overloaded. Retry in ${retryAfterSeconds} s.`;
  const ignoredByCircuit = status === 429 && limited?.(retryAfterSeconds) === true;
  return new GatewayError('upstream_capacity', message, { retryAfterSeconds, ignoredByCircuit, status: clientStatus });
};

const notAvailable = (details: { readonly upstreamFailed?: boolean } = {}): GatewayError =>
  new GatewayError('service_unavailable', 'The model is not available now. Retry later.', details);

const MESSAGE_CHARACTERS_MAX = 1_000;
const PARAM_CHARACTERS_MAX = 200;

/** A provider's text as the client sees it: without the provider key, trimmed, and limited in length. */
export const vendorWords = (text: string, secret: string, charactersMax: number): string =>
  text
    .replaceAll(secret, '[redacted]')
    .trim()
    .slice(0, charactersMax)
    .replace(/[\uD800-\uDBFF]$/, '')
    .toWellFormed()
    .trim();

const refused = (refusal: Refusal, secret: string, rules: RefusalRules): GatewayError => {
  const words = vendorWords(refusal.message, secret, MESSAGE_CHARACTERS_MAX) || 'The provider rejected the request.';
  const vendorParam =
    refusal.param === undefined ? undefined : vendorWords(refusal.param, secret, PARAM_CHARACTERS_MAX);
  const code = codeOf(refusal, words, rules);
  const param = code === 'context_length_exceeded' ? (vendorParam ?? rules.promptParam) : vendorParam;
  // The message names the field to change (GEN-4).
  if (param === undefined) return new GatewayError(code, words);
  return new GatewayError(code, words.includes(param) ? words : `${param}: ${words}`, { param });
};

/** Fields for the size of an image or video, in the client's protocol. */
const sizeFields: ReadonlySet<string> = new Set(['size', 'width', 'height']);

const codeOf = (refusal: Refusal, words: string, rules: RefusalRules): ErrorCode => {
  const code = `${refusal.code} ${refusal.type}`;
  if (rules.context.test(`${code} ${words}`)) return 'context_length_exceeded';
  if (rules.filter.test(code)) return 'content_filter';
  if (refusal.param !== undefined && sizeFields.has(refusal.param)) return 'invalid_size';
  return /image/i.test(code) || rules.image.test(words) ? 'invalid_image_format' : 'invalid_request_error';
};

/** Details of an error that a request can cause, so the circuit does not count it (FALL-1). */
export const byRequest: ErrorDetails = { ignoredByCircuit: true };

/** Details of the error for a response without images. A prompt can cause an empty list. */
export const detailsOfNone = (outputs: unknown): ErrorDetails =>
  Array.isArray(outputs) && outputs.length === 0 ? { ...byRequest, usesAllowance: true } : {};

/** Error for an unreadable response, which is the provider's fault (ERR-9) unless a request can cause it. */
export const unreadable = (details: ErrorDetails = {}): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The provider returned an invalid response. Nothing was charged. Retry the request.',
    details,
  );

/** Error for a response without its final usage, which is incomplete even if all content arrived (BILL-9). */
export const incomplete = (details: ErrorDetails = {}): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The provider stopped before its response was complete. Nothing was charged. Retry the request.',
    details,
  );

/**
 * Error for a response without output. A prompt can cause it, so the circuit does not count it. If the provider counted
 * output, such as hidden reasoning, its cost uses the allowance (BILL-21).
 */
export const withoutOutput = (usage: TokenUsage | undefined): GatewayError => {
  const error = incomplete(byRequest);
  return usage && answerTokensOf(usage) > 0 ? new UnchargedOutput(error.code, error.message, usage, byRequest) : error;
};

/** Error for output that a safety filter stopped (CHAT-14), with the provider's counts if it reported any. */
export const filtered = (usage?: TokenUsage): GatewayError =>
  new UnchargedOutput(
    'content_filter',
    'The safety filter of the provider stopped the output. Nothing was charged. Change the prompt.',
    usage,
  );
