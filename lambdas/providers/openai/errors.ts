import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';

/** https://platform.openai.com/docs/guides/error-codes: `{error: {message, type, param, code}}`; compatible servers vary in all four. */
const errorBody = z.object({
  error: z.object({
    message: z.string().catch(''),
    type: z.string().nullish().catch(null),
    param: z.string().nullish().catch(null),
    code: z.union([z.string(), z.number()]).nullish().catch(null),
  }),
});

/** What some compatible servers send instead. */
const plainMessage = z
  .object({ message: z.string().optional().catch(undefined), detail: z.string().optional().catch(undefined) })
  .transform(({ message, detail }) => message ?? detail);

export interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly param: string | undefined;
  readonly code: string;
}

const silent: Refusal = { message: '', type: '', param: undefined, code: '' };

export const parseRefusal = (body: unknown): Refusal => {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) return { ...silent, message: plainMessage.safeParse(body).data ?? '' };
  const { message, type, param, code } = parsed.data.error;
  return { message, type: type ?? '', param: param ?? undefined, code: String(code ?? '') };
};

export type VendorNotice = 'vendor_refused_us' | 'vendor_model_missing';

export interface RefusalContext {
  readonly retryAfterSeconds: number;
  /** What must never be shown, should the vendor quote it. */
  readonly secret: string;
  readonly notice: (notice: VendorNotice) => void;
}

// Codes and types only where a wrong match would do harm: a message may quote what the client sent.
const ours = /insufficient_quota|credit_balance_exhausted|billing_(?:hard_limit|not_active)|invalid_api_key/i;
const oursInWords =
  /exceeded your current quota|credit balance is too low|insufficient (?:account )?(?:balance|credit)/i;
const context = /context_length_exceeded|maximum context length/i;
const filter = /content_policy_violation|content_filter|moderation_blocked/i;
const image = /unsupported image|(?:downloading|invalid) image/i;

/** ERR-3: the vendor turned us away, not the client. */
const isAboutUs = (status: number, { code, type, message, param }: Refusal): boolean =>
  [401, 402, 403].includes(status) ||
  ours.test(`${code} ${type}`) ||
  // A complaint about a field is about the client's request, whatever it quotes.
  (param === undefined && oursInWords.test(message));

/** ERR-9, from top to bottom: the first row that fits is the client's error. */
export const toGatewayError = (status: number, refusal: Refusal, told: RefusalContext): GatewayError => {
  if (isAboutUs(status, refusal)) {
    told.notice('vendor_refused_us');
    return new GatewayError('service_unavailable', 'The model is not available at the moment. Try again later.', {
      retryAfterSeconds: 30,
    });
  }
  if (status === 400 || status === 413 || status === 422) return refused(refusal, told.secret);
  if (status === 404) {
    told.notice('vendor_model_missing');
    return new GatewayError('model_unavailable', 'The vendor does not serve this model at present. Choose another.', {
      param: 'model',
    });
  }
  if (status === 429 || status === 529) {
    return new GatewayError('upstream_capacity', 'The model is overloaded at the moment. Try again shortly.', {
      retryAfterSeconds: told.retryAfterSeconds,
    });
  }
  if (status === 503) {
    return new GatewayError('service_unavailable', 'The model is not available at the moment. Try again later.', {
      retryAfterSeconds: 30,
    });
  }
  if (status === 504)
    return new GatewayError('upstream_timeout', 'The model did not answer in time. Nothing was charged.');
  return new GatewayError('upstream_error', 'The model answered with an error. Nothing was charged.');
};

const refused = (refusal: Refusal, secret: string): GatewayError => {
  const redacted = (text: string): string => text.replaceAll(secret, '[redacted]');
  const words = redacted(refusal.message || 'The model refused the request.');
  const param = refusal.param === undefined ? undefined : redacted(refusal.param);
  const details = param === undefined ? {} : { param };
  const message = param === undefined || words.includes(param) ? words : `${param}: ${words}`;
  const code = `${refusal.code} ${refusal.type}`;
  if (context.test(`${code} ${words}`))
    return new GatewayError('context_length_exceeded', message, { param: 'messages', ...details });
  if (filter.test(code)) return new GatewayError('content_filter', message, details);
  if (/image/i.test(code) || image.test(words)) return new GatewayError('invalid_image_format', message, details);
  return new GatewayError('invalid_request_error', message, details);
};

/** Errors inside a stream carry no status; their type and code stand in for it. */
export const toInBandError = (refusal: Refusal, told: RefusalContext): GatewayError =>
  toGatewayError(inBandStatus(`${refusal.code} ${refusal.type}`), refusal, told);

const inBandStatus = (text: string): number => {
  const number = /\b([45]\d\d)\b/.exec(text)?.[1];
  if (number) return Number(number);
  if (/rate_limit|slow_down|overloaded/.test(text)) return 429;
  if (/invalid_request|content_filter|content_policy/.test(text)) return 400;
  return 500;
};
