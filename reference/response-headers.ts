import type { oas31 } from 'zod-openapi';
import { requestIdForm, usdForm } from './answers/forms.ts';

const text = (description: string, example: string, form?: RegExp): oas31.HeaderObject => ({
  description,
  schema: { type: 'string', ...(form && { pattern: form.source }) },
  example,
});
/** A header with one value. */
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
    'The id of this request, made by the gateway. Its receipt has it.',
    '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
    // An image that CloudFront sends has an id of CloudFront's.
  ),
  'request-id': text(
    'The same as `x-request-id`, in the messages format.',
    '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
    requestIdForm,
  ),
  'x-ratelimit-limit-requests': count('How many requests a key may send at once.', 15),
  'x-ratelimit-remaining-requests': count('How many of them are left.', 14),
  'x-ratelimit-reset-requests': text('When all of them are there again.', '0.1s', /^\d+\.\ds$/),
  'X-Service-Cost-Usd': text('What this request cost, exactly.', '0.0000342', usdForm),
  'X-Service-Balance-Usd': text(
    'The balance behind this request. Left out where something else wrote it.',
    '9.9999658',
    usdForm,
  ),
  'X-Service-Max-Tokens': count('The cap that was chosen where the request named none.', 4_096, { minimum: 1 }),
  'X-Service-Ignored-Parameters': text(
    'Fields of the request that were ignored: at most 20, sorted. Left out if there are none.',
    'input_type,metadata',
  ),
  'X-Service-Model-Used': text('The reserve that answered. Only there when one did.', 'gpt-4.1-mini'),
  'X-Service-Fallback-From': text('The model that was asked for. Only there when a reserve answered.', 'gpt-5.4-mini'),
  'Idempotent-Replayed': mark(
    '`true` on an answer that was stored before. It has no balance, and the receipt is that of the first.',
    'true',
  ),
  'X-Service-Next-Cursor': text(
    'The cursor of the next page of a CSV. Left out on the last.',
    'MDFLQUoyWjhENU04UjNWMEM3UTRUOVhXMUIuMA',
  ),
  'Retry-After': count('Seconds to wait before the next try.', 1, { minimum: 1, maximum: 300 }),
  'x-should-retry': mark('`false` where a repetition cannot help.', 'false'),
  Allow: text('The methods that this path has.', 'GET, OPTIONS'),
  ETag: text('The hash of the file.', '"0d5c2a"'),
  'Content-Range': text('The part of the file that follows.', 'bytes 0-1023/1048576', /^bytes (?:\d+-\d+|\*)\/\d+$/),
} as const satisfies Record<string, oas31.HeaderObject>;

export type HeaderName = keyof typeof responseHeaders;

/** What every answer to a valid key has. */
export const rateHeaders = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const;

/** What an answer has whose request is paid by then. */
export const receipt = ['X-Service-Cost-Usd', 'X-Service-Balance-Usd'] as const;
export const reserve = ['X-Service-Model-Used', 'X-Service-Fallback-From'] as const;

export const headerReferences = (names: readonly HeaderName[]): oas31.HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
