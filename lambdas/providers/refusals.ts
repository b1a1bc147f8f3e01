import type { ErrorCode } from '../core/errors/error-codes.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { ProviderEvent } from '../core/metrics.ts';

/** What a vendor said when it turned a request away. Absent members are empty. */
export interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly param: string | undefined;
  readonly code: string;
}

export interface RefusalContext {
  readonly retryAfterSeconds: number;
  /** What must never be shown, should the vendor quote it. */
  readonly secret: string;
  readonly notice: (notice: ProviderEvent) => void;
}

/** How one vendor says what several statuses have in common. Codes and types are read as one text, `<code> <type>`. */
export interface RefusalRules {
  /** Our own key or credit, by code or type alone: a message may quote what the client sent. */
  readonly ours: RegExp;
  /** The same in a message that names no field. */
  readonly oursInWords: RegExp;
  /** By code, type or message. */
  readonly context: RegExp;
  /** By code or type alone. */
  readonly filter: RegExp;
  /** By message. */
  readonly image: RegExp;
  /** What the prompt is called in the client's protocol. */
  readonly promptParam: string;
}

/** ERR-3: the vendor turned us away, not the client. */
const isAboutUs = (status: number, { code, type, message, param }: Refusal, rules: RefusalRules): boolean =>
  [401, 402, 403].includes(status) ||
  rules.ours.test(`${code} ${type}`) ||
  // A complaint about a field is about the client's request, whatever it quotes.
  (param === undefined && rules.oursInWords.test(message));

/** ERR-9, from top to bottom: the first row that fits is the client's error. */
export const toGatewayError = (
  status: number,
  refusal: Refusal,
  context: RefusalContext,
  rules: RefusalRules,
): GatewayError => {
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
  if (status === 429 || status === 529) {
    const { retryAfterSeconds } = context;
    // Codex reads the seconds of an error in a stream from these words.
    const message = `The provider is overloaded. Retry in ${retryAfterSeconds} s.`;
    return new GatewayError('upstream_capacity', message, { retryAfterSeconds });
  }
  if (status === 503) return notAvailable({ upstreamFailed: true });
  if (status === 504)
    return new GatewayError(
      'upstream_timeout',
      'The provider did not respond in time. Nothing was charged. Retry the request.',
    );
  return new GatewayError('upstream_error', 'The provider returned an error. Nothing was charged. Retry the request.');
};

const notAvailable = (details: { readonly upstreamFailed?: boolean } = {}): GatewayError =>
  new GatewayError('service_unavailable', 'The model is not available now. Retry later.', details);

const MESSAGE_CHARACTERS_MAX = 1_000;
const PARAM_CHARACTERS_MAX = 200;

/** Text of a vendor as a client may see it: without the gateway's key, trimmed, and of a bounded length. */
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
  const code = codeOf(`${refusal.code} ${refusal.type}`, words, rules);
  const param = code === 'context_length_exceeded' ? (vendorParam ?? rules.promptParam) : vendorParam;
  // A message names the field to change (GEN-4).
  if (param === undefined) return new GatewayError(code, words);
  return new GatewayError(code, words.includes(param) ? words : `${param}: ${words}`, { param });
};

const codeOf = (code: string, words: string, rules: RefusalRules): ErrorCode => {
  if (rules.context.test(`${code} ${words}`)) return 'context_length_exceeded';
  if (rules.filter.test(code)) return 'content_filter';
  return /image/i.test(code) || rules.image.test(words) ? 'invalid_image_format' : 'invalid_request_error';
};

/** What cannot be read is the vendor's fault (ERR-9). */
export const unreadable = (): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The provider returned an invalid response. Nothing was charged. Retry the request.',
  );

/** BILL-9: without its final usage an answer is not complete, whatever of it has arrived. */
export const incomplete = (): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The provider stopped before its response was complete. Nothing was charged. Retry the request.',
  );

/** CHAT-14. */
export const filtered = (): GatewayError =>
  new GatewayError(
    'content_filter',
    'The safety filter of the provider stopped the output. Nothing was charged. Change the prompt.',
  );
