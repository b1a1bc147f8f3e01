import type { ErrorCode } from '../lambdas/core/errors/error-codes.ts';
import type { Credential, Route } from '../lambdas/routes.ts';

const ofKeys = [
  'missing_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'expired_api_key',
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
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
  'service_unavailable',
];

/** Errors of routes that call a model, with or without a charge. */
export const ofModels = [
  'model_not_found',
  'model_not_allowed',
  'invalid_fallback_model',
  'upstream_capacity',
  'upstream_error',
  'service_unavailable',
  'model_unavailable',
  'upstream_timeout',
] as const satisfies readonly ErrorCode[];

const ofBills: readonly ErrorCode[] = [
  ...ofModels,
  'request_budget_exceeded',
  'insufficient_balance',
  'key_limit_exceeded',
];

/** Errors of requests with an idempotency key. */
export const ofKeyedRequests = [
  'idempotency_in_progress',
  'idempotency_exhausted',
  'idempotency_key_mismatch',
] as const satisfies readonly ErrorCode[];

/** Errors of prompts with text or images. */
export const ofPrompts = [
  'context_length_exceeded',
  'content_filter',
  'invalid_image_format',
] as const satisfies readonly ErrorCode[];

/** Error codes that follow from a route's row in the route table. GEN-8 defines the order of the checks. */
export const codesOfRoute = ({ method, credential, limited, body, billed }: Route): readonly ErrorCode[] => [
  'direct_access_refused',
  'method_not_allowed',
  ...(method === 'GET' ? (['upgrade_required'] as const) : []),
  ...(limited ? (['rate_limit_exceeded'] as const) : []),
  ...byCredential[credential],
  ...(body === 'none' ? [] : ofBodies),
  ...(billed ? ofBills : []),
  'internal_error',
];
