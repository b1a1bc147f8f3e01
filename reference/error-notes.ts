import type { ErrorCode } from '../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../lambdas/core/errors/gateway-error.ts';
import { BODY_BYTES_MAX, BODY_LIMIT_TEXT } from '../lambdas/limits.ts';

interface ErrorNote {
  /** What comes behind the word when. */
  readonly when: string;
  /** As a client might read it. */
  readonly message: string;
  readonly param?: string;
  /** Example for a code whose seconds the provider decides. */
  readonly retryAfterSeconds?: number;
}

/** A code without its note does not compile. */
export const errorNotes: Record<ErrorCode, ErrorNote> = {
  missing_api_key: {
    when: 'no key was sent, or not in the way of this route',
    message: 'No API key was sent. Send it as "Authorization: Bearer <key>".',
    param: 'Authorization',
  },
  invalid_api_key: {
    when: 'nobody has this key',
    message: 'The API key is not known. Check that it was copied whole.',
    param: 'Authorization',
  },
  revoked_api_key: {
    when: 'the key was replaced or revoked',
    message: 'This API key was replaced or revoked. Use the newest key of the account.',
    param: 'Authorization',
  },
  invalid_signature: {
    when: 'what the caller proves itself with is missing, wrong or too old',
    message:
      'X-Service-Signature: must be t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">, five minutes old at most.',
    param: 'X-Service-Signature',
  },
  insufficient_balance: {
    when: 'the balance does not cover the hold',
    message: 'The balance is too low: 0.42 USD are needed, 0.1 USD are available.',
  },
  account_blocked: {
    when: 'the account is blocked for a violation of the terms',
    message: 'This account is blocked for a violation of the terms.',
  },
  direct_access_refused: {
    when: 'the gateway was called past its front door; use its public address',
    message: 'This address takes no requests of clients. Use the public address of the API.',
  },
  not_found: {
    when: 'there is nothing under this path or id, or it is another account’s',
    message: 'There is nothing of this id.',
  },
  expired: { when: 'it was there, and its time is over', message: 'It is not kept any more.' },
  model_not_found: {
    when: 'no model of this name is served; the nearest one is told',
    message: 'There is no model "gpt-4.1-mimi". Did you mean "gpt-4.1-mini"?',
    param: 'model',
  },
  method_not_allowed: {
    when: 'the path has no such method',
    message: 'PUT is not served at this path. Use GET, OPTIONS.',
  },
  invalid_request_error: {
    when: 'the body, a header or a parameter is wrong; `param` names it',
    message: 'temperature: must be at most 2.',
    param: 'temperature',
  },
  invalid_messages: {
    when: '`messages` is missing, empty or malformed',
    message: 'messages[0].role: must be one of "system", "developer", "user", "assistant", "tool".',
    param: 'messages[0].role',
  },
  context_length_exceeded: {
    when: 'the input is longer than the model’s context',
    message: 'messages: longer than the context of the model.',
    param: 'messages',
  },
  invalid_image_format: {
    when: 'an image is no PNG, JPEG or WebP, or cannot be fetched',
    message: 'image: must be a PNG, JPEG or WebP image.',
    param: 'image',
  },
  content_filter: {
    when: 'a safety filter of the vendor stopped the prompt or the answer',
    message: 'The answer was stopped by the safety filter of the vendor. Nothing was charged.',
  },
  unsupported_parameter: {
    when: 'the request asks for something to be kept; nothing is',
    message: 'store: not supported here. Answers are not kept: leave it out.',
    param: 'store',
  },
  idempotency_not_supported: {
    when: 'an Idempotency-Key came with a stream, with a form, or to a route that has none',
    message: 'idempotency-key: works only on plain answers. Leave it out here.',
    param: 'idempotency-key',
  },
  invalid_fallback_model: {
    when: 'the reserve is unknown, not allowed for this model, or not possible on this route',
    message: 'x-service-fallback-model: "gpt-6-sol" is no reserve of "gpt-4.1-mini".',
    param: 'x-service-fallback-model',
  },
  request_budget_exceeded: {
    when: 'the hold would be above 100 USD',
    message: 'This request could cost 104.2 USD, more than 100 USD. Reduce max_tokens or split it.',
  },
  invalid_size: {
    when: 'the model does not make this size; the message tells which it makes',
    message: 'size: must be one of 1280x720, 720x1280.',
    param: 'size',
  },
  idempotency_in_progress: {
    when: 'the first request under this Idempotency-Key is still under way',
    message: 'The first request under this key is not answered yet.',
    param: 'idempotency-key',
  },
  idempotency_exhausted: {
    when: 'too many requests under this Idempotency-Key came to nothing; use a new one',
    message: 'This key has been tried too often. Send a new one.',
    param: 'idempotency-key',
  },
  key_already_rotated: {
    when: 'the API key has been replaced meanwhile; read the account again',
    message: 'key_id: this key has been replaced already.',
    param: 'key_id',
  },
  credit_mismatch: {
    when: 'this payment was credited before with another amount',
    message: 'amount_usd: this ref has credited 10 USD before. Nothing was credited now.',
    param: 'amount_usd',
  },
  video_not_ready: {
    when: 'the video is not finished yet',
    message: 'The video is in_progress. Ask for its content once it is completed.',
  },
  video_in_progress: {
    when: 'the video is still being made, and cannot be deleted',
    message: 'The video is in_progress. Delete it once it has ended.',
  },
  payload_too_large: {
    when: `the body is above ${BODY_BYTES_MAX.toLocaleString('en-US')} bytes`,
    message: `The body is larger than ${BODY_LIMIT_TEXT}.`,
  },
  unsupported_media_type: {
    when: 'the body is compressed',
    message: 'content-encoding: only identity is read. Send the body uncompressed.',
    param: 'content-encoding',
  },
  range_not_satisfiable: {
    when: 'no byte of the file is in the range',
    message: 'range: the video has 1048576 bytes, and none of them is in this range.',
    param: 'range',
  },
  idempotency_key_mismatch: {
    when: 'the Idempotency-Key was used for another request',
    message: 'This key belongs to another request. Send a new one.',
    param: 'idempotency-key',
  },
  unprocessable_entity: {
    when: 'the request is well formed but the model cannot do it, such as several answers at once',
    message: 'n: "claude-haiku-4-5" gives one answer at a time. Send n: 1.',
    param: 'n',
  },
  rate_limit_exceeded: {
    when: 'an address, a key or an account sends too much at once',
    message: 'Too many requests with this API key. Slow down and try again.',
  },
  upstream_capacity: {
    when: 'the vendor is overloaded',
    message: 'The model is overloaded at the moment. Try again in 17 s.',
    retryAfterSeconds: 17,
  },
  internal_error: { when: 'the gateway failed', message: 'Something went wrong here. Nothing was charged.' },
  upstream_error: {
    when: 'the vendor failed, or sent something unreadable',
    message: 'The model answered with an error. Nothing was charged.',
  },
  service_unavailable: {
    when: 'the vendor, its circuit or a part of the gateway is not available',
    message: 'The model is not available at the moment. Try again later.',
  },
  model_unavailable: {
    when: 'the model cannot be served at present; choose another',
    message: 'The vendor does not serve this model at present. Choose another.',
    param: 'model',
  },
  upstream_timeout: {
    when: 'the vendor did not answer in time',
    message: 'The model did not answer in time. Nothing was charged.',
  },
};

/** An error of this code, as a client might meet it. */
export const toError = (code: ErrorCode): GatewayError => {
  const { message, param, retryAfterSeconds } = errorNotes[code];
  return new GatewayError(code, message, {
    ...(param !== undefined && { param }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
};
