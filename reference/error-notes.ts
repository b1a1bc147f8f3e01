import type { ErrorCode } from '../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../lambdas/core/errors/gateway-error.ts';
import { BODY_BYTES_MAX, BODY_LIMIT_TEXT } from '../lambdas/limits.ts';

interface ErrorNote {
  /** Cause, as the rest of a sentence that starts with "when". */
  readonly when: string;
  /** Action of the client, in one or two sentences. */
  readonly fix: string;
  /** Example of the message. */
  readonly message: string;
  readonly param?: string;
  /** Example for a code whose `Retry-After` comes from the provider. */
  readonly retryAfterSeconds?: number;
}

/** Note of every code. A missing note is a type error. */
export const errorNotes: Record<ErrorCode, ErrorNote> = {
  missing_api_key: {
    when: 'no API key was sent, or not in a header that this route reads',
    fix: 'Send the API key in a header that this route reads.',
    message: 'Authorization: no API key. Send "Authorization: Bearer <key>".',
    param: 'Authorization',
  },
  invalid_api_key: {
    when: 'the API key is malformed or unknown',
    fix: 'Use a key of this gateway and copy all of it. `npm start`, the bot or the operator gives you one.',
    message: 'The API key is unknown. Use a key of this gateway and copy all of it.',
    param: 'Authorization',
  },
  revoked_api_key: {
    when: 'the API key was replaced or revoked',
    fix: 'Use the newest API key of the account.',
    message: 'This API key was replaced or revoked. Use the newest key of the account.',
    param: 'Authorization',
  },
  expired_api_key: {
    when: 'the API key has expired',
    fix: 'Use another API key of the account, or create one.',
    message: 'This API key expired at 2026-11-26T00:00:00.000Z. Use another key of the account.',
    param: 'Authorization',
  },
  invalid_signature: {
    when: 'the signature or the signed data of the caller is missing, wrong or too old',
    fix: 'Sign the exact body with the current time.',
    message:
      'X-Service-Signature: must be t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">, at most five minutes old.',
    param: 'X-Service-Signature',
  },
  insufficient_balance: {
    when: 'the available balance does not cover the hold',
    fix: 'Top up, or lower `max_tokens`. The message names both amounts.',
    message:
      'This request needs a hold of up to 0.42 USD, but only 0.1 USD is available. Top up, or set max_tokens to at most 230.',
  },
  key_limit_exceeded: {
    when: 'the cap of the API key does not cover the hold',
    fix: 'Raise the cap, wait for its reset, or send a smaller request. The message has the cap and the time of the reset.',
    message:
      'This request needs a hold of up to 0.42 USD, but only 0.1 USD is left of the cap of this API key: 5 USD per day (UTC). The cap resets at 2026-11-27T00:00:00Z. Raise the cap, or set max_tokens to at most 230.',
  },
  account_blocked: {
    when: 'the account is blocked for a violation of the terms',
    fix: 'Contact the operator of the service.',
    message: 'This account is blocked for a violation of the terms. Contact the operator of this service.',
  },
  key_right_missing: {
    when: 'the API key does not have the right `manage`, or was to change or delete itself',
    fix: 'Use an API key with the right `manage`, such as the first key of the account.',
    message:
      'This API key does not have the right "manage". Use a key that has it, such as the first key of the account.',
  },
  model_not_allowed: {
    when: 'the API key has a list of models, and this model is not on it',
    fix: 'Use a model that `GET /v1/models` lists for this key, or another key.',
    message: 'model: this API key cannot call "gpt-5.4". Use a model that GET /v1/models lists, or another key.',
    param: 'model',
  },
  direct_access_refused: {
    when: 'the request went around the front door of the gateway',
    fix: 'Use the public base URL of the API.',
    message: 'Direct access to this URL is not allowed. Use the public base URL of the API.',
  },
  not_found: {
    when: 'this path or id does not exist, or belongs to another account',
    fix: 'Check the path and the id.',
    message: 'There is nothing with this id. Check the id.',
  },
  expired: {
    when: 'the file was stored, but its storage time is over',
    fix: 'Create the image or the video again.',
    message: 'The file is no longer available. Create it again.',
  },
  model_not_found: {
    when: 'no model has this name; the message names a similar one, if there is one',
    fix: 'Use an id of `GET /v1/models`.',
    message: 'The model "gpt-4.1-mimi" does not exist or is not enabled. The nearest model id is "gpt-4.1-mini".',
    param: 'model',
  },
  method_not_allowed: {
    when: 'the path does not have this method',
    fix: 'Use a method of the `Allow` header.',
    message: 'PUT is not allowed on this path. Allowed: GET, HEAD, OPTIONS.',
  },
  invalid_request_error: {
    when: 'the body, a header or a parameter is wrong; `param` names it',
    fix: 'Correct the field as the message says.',
    message: 'temperature: must be at most 2.',
    param: 'temperature',
  },
  invalid_messages: {
    when: '`messages` is missing, empty or malformed',
    fix: 'Correct the message that `param` names.',
    message: 'messages[0].role: must be one of "system", "developer", "user", "assistant", "tool".',
    param: 'messages[0].role',
  },
  context_length_exceeded: {
    when: 'the input is longer than the context of the model',
    fix: 'Shorten the input, or use a model with a larger context.',
    message: 'messages: longer than the context of the model. Shorten them.',
    param: 'messages',
  },
  invalid_image_format: {
    when: 'an image is not a PNG, JPEG or WebP image, or cannot be fetched',
    fix: 'Send a PNG, JPEG or WebP image, or a public URL of one.',
    message: 'image: must be a PNG, JPEG or WebP image.',
    param: 'image',
  },
  content_filter: {
    when: 'a safety filter of the provider stopped the prompt or the output',
    fix: 'Change the prompt.',
    message: 'The safety filter of the provider stopped the output. Nothing was charged. Change the prompt.',
  },
  unsupported_parameter: {
    when: 'a request to `/v1/responses` asks the gateway to store something',
    fix: 'Leave the field out. Send the whole conversation each time.',
    message: 'store: not supported. Responses are not stored. Remove the field.',
    param: 'store',
  },
  idempotency_not_supported: {
    when: 'an idempotency key came with a stream, with a form, or on a route without keys',
    fix: 'Remove the header.',
    message:
      'idempotency-key: works only on responses of /v1/chat/completions and /v1/responses without a stream, and with JSON bodies at /v1/images/generations and /v1/videos. Remove the header.',
    param: 'idempotency-key',
  },
  invalid_fallback_model: {
    when: 'a fallback model is unknown, repeated, not allowed for this model, or not possible on this route',
    fix: 'Use one to three models of `GET /api/models/{id}/fallbacks`.',
    message:
      'x-service-fallback-model: "gpt-4.1" is not an allowed fallback for "gpt-4.1-mini". Use a model of GET /api/models/gpt-4.1-mini/fallbacks.',
    param: 'x-service-fallback-model',
  },
  request_budget_exceeded: {
    when: 'the hold would be above 100 USD',
    fix: 'Lower `max_tokens`, or split the request.',
    message:
      'This request could cost 104.2 USD, more than the limit of 100 USD for one request: reduce max_tokens or split the request.',
  },
  invalid_size: {
    when: 'the model does not create this size; the message names the allowed sizes',
    fix: 'Use one of the sizes in the message.',
    message: 'size: must be one of 1280x720, 720x1280.',
    param: 'size',
  },
  idempotency_in_progress: {
    when: 'the first request with this idempotency key is still in progress',
    fix: 'Retry after `Retry-After`.',
    message: 'idempotency-key: a request with this key is still in progress. Retry in 5 s.',
    param: 'idempotency-key',
  },
  idempotency_exhausted: {
    when: 'too many requests with this idempotency key failed, or the gateway no longer has the stored response',
    fix: 'Use a new idempotency key.',
    message: 'idempotency-key: a request with this key failed 6 times. Use a new key.',
    param: 'idempotency-key',
  },
  key_already_rotated: {
    when: 'the API key was replaced in the meantime',
    fix: 'Read the account again.',
    message: 'key_id: this key was already replaced. Read the account again.',
    param: 'key_id',
  },
  key_changed: {
    when: 'the API key was changed in the meantime',
    fix: 'Read the API key again and send its version in `If-Match`.',
    message: 'if-match: this API key is at version 4 now. Read it again, then repeat the change.',
    param: 'if-match',
  },
  credit_mismatch: {
    when: 'the `ref` was used before with other values, or the chargeback is reversed already',
    fix: 'Use a new `ref` for a new payment. Do not repeat a reversal.',
    message: 'amount_usd: this ref is already used for a credit of 10 USD. Nothing was changed. Use a new ref.',
    param: 'amount_usd',
  },
  video_not_ready: {
    when: 'the video is not completed yet',
    fix: 'Wait for the status `completed`.',
    message: 'The video is not completed. Request its status until it is completed.',
  },
  video_in_progress: {
    when: 'the video is in progress and cannot be deleted',
    fix: 'Wait for its end, then delete it.',
    message: 'The video is in progress. Wait for its end, then delete it.',
  },
  request_timeout: {
    when: 'the headers take longer to arrive than 15 s, or the body longer than 120 s plus 1 s for each 64 KiB',
    fix: 'Send the request faster, or send a smaller body.',
    message: 'The body did not arrive within 424 s. Send it faster, or send a smaller body.',
  },
  payload_too_large: {
    when: `the body is above ${BODY_BYTES_MAX.toLocaleString('en-US')} bytes`,
    fix: 'Send a smaller body, or split the request.',
    message: `The body is larger than ${BODY_LIMIT_TEXT}. Send a smaller body.`,
  },
  unsupported_media_type: {
    when: 'the body is compressed with something other than one of gzip, br and zstd, or the front door takes no compressed bodies',
    fix: 'Send the body without compression.',
    message: 'content-encoding: must be one of gzip, br, zstd, identity. Send the body without compression.',
    param: 'content-encoding',
  },
  range_not_satisfiable: {
    when: 'no byte of the file is in the range',
    fix: 'Request a range within the length of the file.',
    message: 'range: the video has 1048576 bytes, and none of them is in this range. Request a range within them.',
    param: 'range',
  },
  idempotency_key_mismatch: {
    when: 'the idempotency key was used for a different request',
    fix: 'Use a new idempotency key.',
    message: 'idempotency-key: already used with a different body, endpoint or list of fallback models. Use a new key.',
    param: 'idempotency-key',
  },
  upgrade_required: {
    when: 'the request opens a WebSocket',
    fix: 'Use HTTP. A stream uses server-sent events.',
    message: 'WebSocket is not supported. Use HTTP; a stream uses server-sent events.',
  },
  unprocessable_entity: {
    when: 'the request is valid but the model cannot do it, such as several choices in one request',
    fix: 'Change the field that `param` names, or use another model.',
    message: 'n: "claude-haiku-4-5" returns one choice per request. Send n: 1.',
    param: 'n',
  },
  rate_limit_exceeded: {
    when: 'a client IP, an API key or an account sends too many requests, or an account used its daily allowance for requests that ended without a charge',
    fix: 'Retry after `Retry-After`.',
    message: 'Too many requests with this API key. Send fewer requests and retry.',
  },
  upstream_capacity: {
    when: 'the provider is overloaded',
    fix: 'Retry after `Retry-After`, or use another model.',
    message: 'The provider is overloaded. Retry in 17 s.',
    retryAfterSeconds: 17,
  },
  internal_error: {
    when: 'the gateway failed unexpectedly',
    fix: 'Retry. If it fails again, report the request id.',
    message: 'The gateway failed. Nothing was charged. Retry the request.',
  },
  upstream_error: {
    when: 'the provider failed, or returned an invalid response',
    fix: 'Retry the request.',
    message: 'The provider returned an error. Nothing was charged. Retry the request.',
  },
  service_unavailable: {
    when: 'the provider, its circuit or a part of the gateway is not available, or the service is in maintenance',
    fix: 'Retry after `Retry-After`, or use another model.',
    message: 'The model is not available now. Retry later.',
  },
  model_unavailable: {
    when: 'the provider does not offer the model at present',
    fix: 'Use another model.',
    message: 'The provider does not offer this model at present. Use another model.',
    param: 'model',
  },
  upstream_timeout: {
    when: 'the provider did not respond in time',
    fix: 'Retry, or stream the response.',
    message: 'The provider did not respond in time. Nothing was charged. Retry the request.',
  },
};

/** Creates an example error with this code. */
export const toError = (code: ErrorCode): GatewayError => {
  const { message, param, retryAfterSeconds } = errorNotes[code];
  return new GatewayError(code, message, {
    ...(param !== undefined && { param }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
};
