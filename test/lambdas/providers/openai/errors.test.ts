import { expect, test } from 'vitest';
import { UnchargedOutput } from '../../../../lambdas/core/text/uncollected-text.ts';
import {
  nativeNames,
  parseRefusal,
  toInBandError,
  toInBandResponsesError,
  toOpenaiError,
} from '../../../../lambdas/providers/openai/errors.ts';

const refusal = (status: number, error: unknown) => {
  const notices: string[] = [];
  const refusalContext = {
    retryAfterSeconds: 17,
    secret: 'sk-vendor-canary',
    notice: (notice: string) => void notices.push(notice),
  };
  const {
    code,
    status: ours,
    param,
    retryAfterSeconds,
    message,
  } = toOpenaiError(status, parseRefusal(error), refusalContext);
  return { code, status: ours, param, retryAfterSeconds, message, notices };
};

const body = (code: string | number | null, message = 'words', type = 'invalid_request_error', param?: string) => ({
  error: { message, type, code, param: param ?? null },
});

const ours = { code: 'service_unavailable', status: 503, retryAfterSeconds: 30, notices: ['vendor_refused_us'] };

test.for([
  [401, body('invalid_api_key', 'Incorrect API key provided: sk-vendor-canary')],
  [401, undefined],
  [402, { error: { message: 'Insufficient Balance', type: 'unknown_error', param: null, code: null } }],
  [403, body('unsupported_country_region_territory', 'Country not supported', 'request_forbidden')],
  [429, body('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota')],
  [429, body('credit_balance_exhausted', 'Add credits', 'insufficient_quota')],
  [429, body(null, 'You exceeded your current quota, please check your plan and billing details.')],
  [429, body('1113', 'Insufficient balance or no resource package. Please recharge.')],
  [400, body('billing_hard_limit_reached', 'Billing hard limit has been reached')],
  [400, body(null, 'Your credit balance is too low to access the API.')],
  [400, body('invalid_api_key', 'Incorrect API key provided: sk-ve***ary.')],
  [503, body('insufficient_quota', 'quota', 'insufficient_quota')],
  [404, body('billing_not_active', 'Your account is not active', 'billing_not_active')],
] as const)('ERR-3 an error about the gateway’s account is 503 with an alarm: %i %j', ([status, error]) => {
  const found = refusal(status, error);
  expect(found).toMatchObject(ours);
  expect(found.message).not.toMatch(/canary|key|credit|quota|balance/i);
});

test.for([
  ["Invalid schema for function 'get_billing_details': 'credit' is not an object", 'tools[0].function.parameters'],
  ["Invalid value: 'insufficient_quota'. Supported values are: 'auto'", 'tool_choice'],
] as const)('ERR-9 the client’s text in a refusal is not about the gateway’s account: %s', ([message, param]) => {
  expect(refusal(400, body(null, message, 'invalid_request_error', param))).toMatchObject({
    code: 'invalid_request_error',
    message: expect.stringContaining(message),
    param,
    notices: [],
  });
});

test('FALL-1, BILL-21 invalid output of the model uses the allowance, not the circuit; no other 500 does', () => {
  const context = { retryAfterSeconds: 1, secret: 'sk-vendor-canary', notice: () => undefined };
  const error = (type: string, message: string) => toOpenaiError(500, parseRefusal(body(null, message, type)), context);
  const broken = error('model_error', 'The model produced invalid content.');
  expect([broken.ignoredByCircuit, broken instanceof UnchargedOutput]).toEqual([true, true]);
  const failed = error('server_error', 'a model_error in words');
  expect([failed.ignoredByCircuit, failed instanceof UnchargedOutput]).toEqual([false, false]);
});

test.for([400, 413, 422])('ERR-9 %i is 400 with the message and the param of the provider', (status) => {
  expect(refusal(status, body('invalid_value', 'temperature: too hot', undefined, 'temperature'))).toEqual({
    code: 'invalid_request_error',
    status: 400,
    param: 'temperature',
    retryAfterSeconds: undefined,
    message: 'temperature: too hot',
    notices: [],
  });
});

test.for([
  ['context_length_exceeded', 'words', 'context_length_exceeded'],
  [null, "This model's maximum context length is 128000 tokens.", 'context_length_exceeded'],
  ['content_policy_violation', 'words', 'content_filter'],
  ['content_filter', 'words', 'content_filter'],
  ['image_content_policy_violation', 'words', 'content_filter'],
  ['invalid_image_url', 'words', 'invalid_image_format'],
  ['invalid_image', 'words', 'invalid_image_format'],
  ['invalid_image_format', 'words', 'invalid_image_format'],
  ['invalid_base64_image', 'words', 'invalid_image_format'],
  ['image_parse_error', 'words', 'invalid_image_format'],
  ['unsupported_image_media_type', 'words', 'invalid_image_format'],
  ['empty_image_file', 'words', 'invalid_image_format'],
  ['failed_to_download_image', 'words', 'invalid_image_format'],
  ['image_file_not_found', 'words', 'invalid_image_format'],
  ['invalid_value', 'temperature', 'invalid_request_error'],
] as const)('ERR-9 400 with code %s (%s) is %s', ([code, message, expected]) => {
  const found = refusal(400, body(code, message));
  expect(found).toMatchObject({ code: expected, status: 400, notices: [] });
  expect(found.message).toContain(message);
});

test('GEN-4 a provider message that does not name its param gets it as a prefix', () => {
  expect(refusal(400, body(null, 'too hot', undefined, 'temperature')).message).toBe('temperature: too hot');
});

test('CHAT-13 the refusal of a long prompt names messages', () => {
  expect(refusal(400, body('context_length_exceeded'))).toMatchObject({
    param: 'messages',
    message: 'messages: words',
  });
});

test('ERR-9 404 is 503 model_unavailable with an alarm and without Retry-After', () => {
  expect(refusal(404, body('model_not_found'))).toMatchObject({
    code: 'model_unavailable',
    status: 503,
    param: 'model',
    retryAfterSeconds: undefined,
    notices: ['vendor_model_missing'],
  });
});

test.for([
  [429, body('rate_limit_exceeded', 'slow', 'requests'), 'upstream_capacity', 429, 17],
  [429, body('slow_down'), 'upstream_capacity', 429, 17],
  [429, undefined, 'upstream_capacity', 429, 17],
  [529, undefined, 'upstream_capacity', 429, 17],
  [503, body('server_is_overloaded'), 'service_unavailable', 503, 30],
  [503, undefined, 'service_unavailable', 503, 30],
  [500, body(null, 'oops', 'server_error'), 'upstream_error', 502, undefined],
  [501, undefined, 'upstream_error', 502, undefined],
  [502, undefined, 'upstream_error', 502, undefined],
  [504, undefined, 'upstream_timeout', 504, undefined],
  [301, undefined, 'upstream_error', 502, undefined],
  [307, body(null), 'upstream_error', 502, undefined],
  [201, undefined, 'upstream_error', 502, undefined],
  [405, undefined, 'upstream_error', 502, undefined],
] as const)('ERR-9 %i %j is %s', ([status, error, code, ours, retryAfterSeconds]) => {
  const found = refusal(status, error);
  expect(found).toMatchObject({ code, status: ours, notices: [] });
  expect(found.retryAfterSeconds).toBe(retryAfterSeconds);
  expect(found.message).not.toMatch(/oops|slow$/);
});

test.for([undefined, null, '', 'text', [], {}, { error: 'words' }, { error: null }, { error: { message: 7 } }])(
  'ERR-9 an unreadable body %j still has a message',
  (error) => {
    expect(refusal(400, error)).toMatchObject({ code: 'invalid_request_error', param: null });
    expect(refusal(400, error).message).not.toBe('');
    expect(refusal(500, error).code).toBe('upstream_error');
  },
);

test('ERR-5 the provider key is never shown', () => {
  const { message } = refusal(400, body(null, 'sk-vendor-canary is wrong, sk-vendor-canary is'));
  expect(message).toBe('[redacted] is wrong, [redacted] is');
  expect(refusal(400, body(null, 'x', 'y', 'at sk-vendor-canary')).param).not.toContain('canary');
});

test('ERR-5 a message and a param of the provider are trimmed and of limited length', () => {
  expect(refusal(400, body(null, '  \n too hot \n')).message).toBe('too hot');
  expect(refusal(400, body(null, ' \n ')).message).toBe('The provider rejected the request.');
  const { message, param } = refusal(400, body(null, `${'a'.repeat(999)}\u{1f600}`, 'x', ` ${'b'.repeat(300)}`));
  expect(param).toBe('b'.repeat(200));
  expect(message).toBe(`${param}: ${'a'.repeat(999)}`);
});

test.for(['invalid_prompt', 'cyber_policy', 'bio_policy', 'misalignment_policy_violation', 'content_filter'])(
  'CHAT-14, ERR-9 the code %s is content_filter, with any 4xx, in a stream and in a failed response',
  (code) => {
    for (const status of [400, 403]) {
      expect(refusal(status, body(code))).toMatchObject({ code: 'content_filter', status: 400, notices: [] });
    }
    const context = { retryAfterSeconds: 17, secret: 'sk-vendor-canary', notice: () => undefined };
    const inBand = toInBandError(parseRefusal(body(code, 'words', 'server_error')), context);
    const failed = { response: { status: 'failed', error: { code, message: 'words' } } };
    const codes = [inBand, toInBandResponsesError(failed, context, nativeNames)].map((error) => error.code);
    expect(codes).toEqual(['content_filter', 'content_filter']);
  },
);

test('ERR-9 a code that only contains a word of a filter is an invalid request', () => {
  expect(refusal(400, body('policy_not_found')).code).toBe('invalid_request_error');
});
