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
  'With `true` the request is checked and priced, and answered by a `DryRun` in place of the model’s answer. Nothing is held, called or stored.',
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

/** AUTH-2. */
export const providerVersion: Parameter = {
  ...header(
    'provider-version',
    'The version of the format. The header `anthropic-version`, with 2023-06-01 or 2026-10-21, may stand in its place.',
    { type: 'string', enum: ['2023-06-01'] },
  ),
  required: true,
};

/** VID-4. */
export const range = header('Range', 'One range of bytes. Several at once are answered with the whole file.', {
  type: 'string',
  pattern: '^bytes=\\d*-\\d*$',
});
export const ifRange = header('If-Range', 'The ETag of the file that the range is of.', { type: 'string' });

/** GEM-2. */
export const alt = query(
  'alt',
  'How the answer is written: as server-sent events, or as one JSON array whose elements go out as they come.',
  { type: 'string', enum: ['sse', 'json'], default: 'json' },
);

export const limit = (most: number, byDefault: number): Parameter =>
  query('limit', 'How many at most.', { type: 'integer', minimum: 1, maximum: most, default: byDefault });
