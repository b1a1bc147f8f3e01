import type { oas31 } from 'zod-openapi';
import type { JsonSchema } from './json-schema.ts';

export type Parameter = oas31.ParameterObject & { readonly in: 'query' | 'header' };

export const query = (name: string, description: string, schema: JsonSchema, example?: string | number): Parameter => ({
  in: 'query',
  name,
  description,
  schema,
  ...(example !== undefined && { example }),
});

const header = (name: string, description: string, schema: JsonSchema): Parameter => ({
  in: 'header',
  name,
  description,
  schema,
});

/** Headers of paid requests (IDEM-6, BILL-16, FALL-1, FALL-6). */
export const idempotencyKey = header(
  'Idempotency-Key',
  'Makes the request safe to repeat. A repeat with the same key returns the stored response, without a second provider call or charge. Stored for 24 hours. Not supported with streams or forms.',
  { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
);

export const dryRun = header(
  'X-Service-Dry-Run',
  'With `true`, the gateway checks and prices the request and returns a `DryRun` with its own media type. It places no hold, calls no provider and stores nothing.',
  { type: 'string', enum: ['true', 'false'] },
);

export const requireParameters = header(
  'X-Service-Require-Parameters',
  'With `true`, a field that would be ignored is rejected with 400.',
  { type: 'string', enum: ['true', 'false'] },
);

export const fallbackModel = header(
  'X-Service-Fallback-Model',
  'One model of `GET /api/models/{id}/fallbacks`. The gateway uses it, at its own prices, only if the circuit of the model is open before the call. Without this header, no model is replaced.',
  { type: 'string' },
);

export const fallbackModels: Parameter = {
  ...header(
    'X-Service-Fallback-Models',
    'One to three models of `GET /api/models/{id}/fallbacks`, separated by commas, in the order of preference. The gateway calls the first model whose circuit is not open, at its own prices. Not together with `X-Service-Fallback-Model`.',
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3, uniqueItems: true },
  ),
  style: 'simple',
};

/** AUTH-2: one of `provider-version` and `anthropic-version` is required. */
export const providerVersion: Parameter = {
  ...header('provider-version', 'Version of the protocol. Either this header or `anthropic-version` is required.', {
    type: 'string',
    enum: ['2023-06-01'],
  }),
  // The viewer sends the example.
  example: '2023-06-01',
};
export const anthropicVersion = header(
  'anthropic-version',
  'Version of the protocol, as SDKs send it. Either this header or `provider-version` is required.',
  { type: 'string', enum: ['2023-06-01', '2026-10-21'] },
);

/** Header with beta values (MSG-7). */
export const anthropicBeta = header(
  'anthropic-beta',
  'Comma-separated names of betas. Betas that do not change prices are forwarded; others are listed in `X-Service-Ignored-Parameters`. The gateway adds a beta that a field needs.',
  { type: 'string' },
);

/** Header for a byte range (VID-4). */
export const range = header(
  'Range',
  'One range of bytes, such as `bytes=0-1023`. Any other value returns the complete file.',
  {
    type: 'string',
  },
);
export const ifRange = header('If-Range', 'ETag of the file to which the range applies.', { type: 'string' });

/** Header for a change of a version that the client has seen (KEY-8). */
export const ifMatch = header(
  'If-Match',
  'ETag of the API key that the client has read, such as `"3"`. If the key was changed since then, the request is 409.',
  { type: 'string' },
);

/** Query parameter for the format of a stream (GEM-2). */
export const alt = query(
  'alt',
  'Format of the response: server-sent events, or one JSON array whose elements are sent as they arrive.',
  { type: 'string', enum: ['sse', 'json'], default: 'json' },
);

export const limit = (most: number, byDefault: number): Parameter =>
  query('limit', 'Maximum number of items.', { type: 'integer', minimum: 1, maximum: most, default: byDefault });
