import type { ErrorCode } from '../lambdas/core/errors/error-codes.ts';
import type { Credential, Route } from '../lambdas/routes.ts';

const ofKeys = [
  'missing_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'account_blocked',
  'service_unavailable',
] as const satisfies readonly ErrorCode[];

const byCredential: Record<Credential, readonly ErrorCode[]> = {
  none: [],
  bearer: ofKeys,
  messages: ofKeys,
  generate_content: ofKeys,
  any: ofKeys,
  init_data: ['invalid_signature'],
  signature: ['invalid_signature'],
  bot: ['invalid_signature'],
};

const ofBodies: readonly ErrorCode[] = [
  'invalid_request_error',
  'payload_too_large',
  'unsupported_media_type',
  'service_unavailable',
];

/** A model is called, whether or not that costs something. */
export const ofModels = [
  'model_not_found',
  'invalid_fallback_model',
  'upstream_capacity',
  'upstream_error',
  'service_unavailable',
  'model_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];

const ofBills: readonly ErrorCode[] = [...ofModels, 'request_budget_exceeded', 'insufficient_balance'];

/** Under an Idempotency-Key. */
export const ofKeyedRequests = [
  'idempotency_in_progress',
  'idempotency_exhausted',
  'idempotency_key_mismatch',
] as const satisfies readonly ErrorCode[];

/** What a prompt in words and pictures can be refused for. */
export const ofPrompts = [
  'context_length_exceeded',
  'content_filter',
  'invalid_image_format',
] as const satisfies readonly ErrorCode[];

/** What follows from a route's row in the table; GEN-8 has the order in which they are looked for. */
export const codesOfRoute = ({ credential, limited, body, billed }: Route): readonly ErrorCode[] => [
  'direct_access_refused',
  'method_not_allowed',
  ...(limited ? (['rate_limit_exceeded'] as const) : []),
  ...byCredential[credential],
  ...(body === 'none' ? [] : ofBodies),
  ...(billed ? ofBills : []),
  'internal_error',
];
