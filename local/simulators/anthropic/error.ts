import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../scenario.ts';
import { VendorRefusal } from '../wire.ts';
import { findModel } from './model-facts.ts';

/** Source: https://platform.claude.com/docs/en/api/errors. */
const typesByStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function typeOf(status: number): string {
  return typesByStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

function makeRequestId(): string {
  return `req_${crypto.randomUUID().replaceAll('-', '')}`;
}

/** Header and body name the same request. */
export function anthropicError(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): VendorRefusal {
  const requestId = makeRequestId();
  const body = { type: 'error', error: { type: typeOf(status), message }, request_id: requestId };
  const shouldRetry = String(status === 429 || status >= 500);
  return new VendorRefusal(status, body, { 'request-id': requestId, 'x-should-retry': shouldRetry, ...headers });
}

/**
 * Returns the error event of a stream that has already started with status 200. Format:
 * https://github.com/umbraco/Umbraco.AI/issues/174
 */
export function anthropicErrorFrame(): string {
  const error = { details: null, type: 'overloaded_error', message: 'Overloaded' };
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error, request_id: makeRequestId() })}\n\n`;
}

/** Anthropic's error for a failure that a scenario requests. */
export function anthropicRefusal(refusal: Refusal, headers: IncomingHttpHeaders, model: string): VendorRefusal {
  switch (refusal.kind) {
    case 'unauthorized': {
      const missing = headers['x-api-key'] === undefined && headers.authorization === undefined;
      return anthropicError(401, missing ? 'x-api-key header is required' : 'invalid x-api-key');
    }
    case 'quota':
      return quotaError(refusal.code);
    case 'model-not-found':
      return anthropicError(404, `model: ${model}`);
    case 'context-length': {
      const limit = findModel(model)?.contextTokens ?? 200_000;
      return tooLongError(limit + 9_353, limit);
    }
    case 'status':
      return statusError(refusal.status, refusal.retryAfterSeconds);
  }
}

export function tooLongError(tokens: number, limit: number): VendorRefusal {
  return anthropicError(400, `prompt is too long: ${tokens} tokens > ${limit} maximum`);
}

/**
 * An empty account is still a 400 (https://github.com/anthropics/anthropic-sdk-typescript/issues/618), and so is a
 * limit that the account has set itself (`usage_limits`). The errors page documents `billing_error`, but no source
 * records its message.
 */
function quotaError(code: string | undefined): VendorRefusal {
  if (code === 'billing_error') return anthropicError(402, 'There is an issue with your billing information.');
  if (code === 'usage_limits') {
    const message =
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.';
    return anthropicError(400, message);
  }
  const message =
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.';
  return anthropicError(400, message);
}

const rateLimitMessage =
  'This request would exceed the rate limit for your organization of 2,000,000 input tokens per minute. ' +
  'For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. ' +
  'Please reduce the prompt length or the maximum tokens requested, or try again later.';

function statusError(status: number, retryAfterSeconds: number | undefined): VendorRefusal {
  const headers: Readonly<Record<string, string>> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  if (status === 429) return anthropicError(status, rateLimitMessage, headers);
  if (status === 529) return anthropicError(status, 'Overloaded', headers);
  if (status >= 500) return anthropicError(status, 'Internal server error', headers);
  return anthropicError(status, `The request was refused with status ${status}.`, headers);
}
