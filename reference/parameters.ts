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

/** Headers of requests that cost money (IDEM-6, BILL-16, FALL-1). */
export const idempotencyKey = header(
  'Idempotency-Key',
  'Makes it safe to repeat this request: the same request under the same key is answered from what is stored, without a second call and a second charge. Kept for 24 hours. Not with a stream, and not with a form.',
  { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
);

export const dryRun = header(
  'X-Service-Dry-Run',
  'With `true` the request is checked and priced, and answered by a `DryRun` in place of the model’s answer, with a media type of its own. Nothing is held, called or stored.',
  { type: 'string', enum: ['true', 'false'] },
);

export const requireParameters = header(
  'X-Service-Require-Parameters',
  'With `true` a field that would be ignored is 400 instead.',
  { type: 'string', enum: ['true', 'false'] },
);

export const fallbackModel = header(
  'X-Service-Fallback-Model',
  'One model of `GET /api/models/{id}/fallbacks`. It answers only when the circuit of the model is open before the request is sent, at its own prices. Without this header there is no substitution.',
  { type: 'string' },
);

/** AUTH-2: one of the two is required. */
export const providerVersion: Parameter = {
  ...header('provider-version', 'The version of the format. Either this header or `anthropic-version` is required.', {
    type: 'string',
    enum: ['2023-06-01'],
  }),
  // The viewer fills it in.
  example: '2023-06-01',
};
export const anthropicVersion = header(
  'anthropic-version',
  'The version of the format, as SDKs send it. Either this header or `provider-version` is required.',
  { type: 'string', enum: ['2023-06-01', '2026-10-21'] },
);

/** MSG-7. */
export const anthropicBeta = header(
  'anthropic-beta',
  'Names of betas, by comma. Those that change no price are forwarded, others are listed in `X-Service-Ignored-Parameters`. A beta that a field needs is added.',
  { type: 'string' },
);

/** VID-4. */
export const range = header(
  'Range',
  'One range of bytes, such as `bytes=0-1023`. The whole file is sent for anything else.',
  {
    type: 'string',
  },
);
export const ifRange = header('If-Range', 'The ETag of the file that the range is of.', { type: 'string' });

/** GEM-2. */
export const alt = query(
  'alt',
  'How the answer is written: as server-sent events, or as one JSON array whose elements go out as they come.',
  { type: 'string', enum: ['sse', 'json'], default: 'json' },
);

export const limit = (most: number, byDefault: number): Parameter =>
  query('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: most, default: byDefault });
