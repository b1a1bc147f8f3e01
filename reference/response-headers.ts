import type { oas31 } from 'zod-openapi';
import { requestIdForm, usdForm } from './answers/forms.ts';

const text = (description: string, example: string, form?: RegExp): oas31.HeaderObject => ({
  description,
  schema: { type: 'string', ...(form && { pattern: form.source }) },
  example,
});
/** A header with one allowed value. */
const mark = (description: string, value: string): oas31.HeaderObject => ({
  description,
  schema: { type: 'string', enum: [value] },
  example: value,
});
const count = (
  description: string,
  example: number,
  range: oas31.SchemaObject = { minimum: 0 },
): oas31.HeaderObject => ({
  description,
  schema: { type: 'integer', ...range },
  example,
});

export const responseHeaders = {
  'x-request-id': text(
    'Request id, created by the gateway. The receipt has the same id.',
    '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
    // CloudFront sets its own id on an image that it sends.
  ),
  'request-id': text(
    'Same value as `x-request-id`, in the messages format.',
    '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
    requestIdForm,
  ),
  'x-ratelimit-limit-requests': count('Number of requests that an API key can send in a burst.', 15),
  'x-ratelimit-remaining-requests': count('Number of remaining requests.', 14),
  'x-ratelimit-reset-requests': text('Time until the full burst is available again, in seconds.', '0.1s', /^\d+\.\ds$/),
  'X-Service-Cost-Usd': text('Exact cost of this request.', '0.0000342', usdForm),
  'X-Service-Balance-Usd': text(
    'Balance after this request. Absent if another process of the gateway wrote the charge.',
    '9.9999658',
    usdForm,
  ),
  'X-Service-Max-Tokens': count(
    'Token limit that the gateway chose, because the request has none or one below the minimum of the provider.',
    4_096,
    {
      minimum: 1,
    },
  ),
  'X-Service-Ignored-Parameters': text(
    'Request fields that the gateway ignored: at most 20, sorted. Absent if there are none.',
    'input_type,metadata',
  ),
  'X-Service-Model-Used': text('Fallback model that created the output. Absent without a fallback.', 'gpt-4.1-mini'),
  'X-Service-Fallback-From': text(
    'Model that the client requested. Only present if a fallback model was used.',
    'gpt-5.4-mini',
  ),
  'Idempotent-Replayed': mark(
    '`true` for a stored response. It has no `X-Service-Balance-Usd`, and its receipt is that of the first request.',
    'true',
  ),
  'X-Service-Next-Cursor': text(
    'Cursor of the next page of a CSV. Absent on the last page.',
    'MDFLQUoyWjhENU04UjNWMEM3UTRUOVhXMUIuMA',
  ),
  'Retry-After': count('Seconds to wait before the next try.', 1, { minimum: 1, maximum: 300 }),
  'x-should-retry': mark('`false` if a retry cannot succeed.', 'false'),
  Allow: text('Methods that this path supports.', 'GET, OPTIONS'),
  ETag: text('Hash of the file, or version of the API key.', '"0d5c2a"'),
  'Content-Range': text('Part of the file in this response.', 'bytes 0-1023/1048576', /^bytes (?:\d+-\d+|\*)\/\d+$/),
} as const satisfies Record<string, oas31.HeaderObject>;

export type HeaderName = keyof typeof responseHeaders;

/** Headers of every response to a valid API key. */
export const rateHeaders = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const;

/** Headers of a response whose request is already charged. */
export const receipt = ['X-Service-Cost-Usd', 'X-Service-Balance-Usd'] as const;
export const reserve = ['X-Service-Model-Used', 'X-Service-Fallback-From'] as const;

export const headerReferences = (names: readonly HeaderName[]): oas31.HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
