import { expect, test } from 'vitest';
import { parseRefusal, toGoogleError } from '../../../../lambdas/providers/google/errors.ts';

type Protocol = 'generate_content' | 'chat_completions';

const refusal = (status: number, body: unknown, protocol: Protocol = 'generate_content') => {
  const notices: string[] = [];
  const refusalContext = {
    retryAfterSeconds: 17,
    secret: 'AIza-canary',
    notice: (notice: string) => void notices.push(notice),
  };
  const error = toGoogleError(status, parseRefusal(body), refusalContext, protocol);
  const { code, status: ours, param, retryAfterSeconds, message } = error;
  return { code, status: ours, param, retryAfterSeconds, message, notices };
};

const body = (code: number, message: string, status = 'INVALID_ARGUMENT', details?: readonly unknown[]) => ({
  error: { code, message, status, ...(details ? { details } : {}) },
});
const info = (reason: string) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
});
const quota = (...quotaIds: readonly string[]) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: quotaIds.map((quotaId) => ({ quotaMetric: 'm', quotaId, quotaValue: '5' })),
});
const help = { '@type': 'type.googleapis.com/google.rpc.Help', links: [{ description: 'd', url: 'u' }] };
const retry = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });

const spent = 'You exceeded your current quota, please check your plan and billing details. For more, head to: …';
const exhausted = 'RESOURCE_EXHAUSTED';
const PER_DAY = 'GenerateRequestsPerDayPerProjectPerModel-FreeTier';
const PER_MINUTE = 'GenerateRequestsPerMinutePerProjectPerModel';
const TOKENS = 'GenerateContentInputTokensPerModelPerMinute-FreeTier';

test.for([
  [400, body(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', [info('API_KEY_INVALID')])],
  [400, body(400, 'API key not valid. Please pass a valid API key.')],
  [400, body(400, 'API key expired. Please renew the API key.')],
  [400, body(400, 'User location is not supported for the API use.', 'FAILED_PRECONDITION')],
  [401, undefined],
  [402, body(402, 'Your prepayment credits are depleted. Please go to AI Studio.', exhausted)],
  [
    403,
    body(403, "Permission denied: Consumer 'api_key:AIza-canary' has been suspended.", 'PERMISSION_DENIED', [
      info('CONSUMER_SUSPENDED'),
    ]),
  ],
  [403, body(403, 'This API method requires billing to be enabled.', 'PERMISSION_DENIED', [info('BILLING_DISABLED')])],
  [403, body(403, 'The caller does not have permission', 'PERMISSION_DENIED')],
  [429, body(429, spent, exhausted)],
  [429, body(429, spent, exhausted, [help])],
  [429, body(429, spent, exhausted, [quota(PER_DAY), help])],
  [429, body(429, `${spent}\nPlease retry in 36.4s.`, exhausted, [quota(PER_DAY), retry('36s')])],
  [429, body(429, spent, exhausted, [quota(PER_MINUTE, PER_DAY), retry('36s')])],
  [
    429,
    body(429, `${spent}\n* Quota exceeded for metric: m, limit: 0, model: g\nPlease retry in 10.6s.`, exhausted, [
      retry('10s'),
    ]),
  ],
  [429, body(429, 'Your prepayment credits are depleted.', exhausted)],
  [429, body(429, 'The project has reached its spending cap.', exhausted)],
  [429, [body(429, spent, exhausted)]],
] as const)('ERR-3 an error about the gateway’s account is 503 with an alarm: %i %j', ([status, answer]) => {
  for (const protocol of ['generate_content', 'chat_completions'] as const) {
    const found = refusal(status, answer, protocol);
    expect(found).toMatchObject({ code: 'service_unavailable', status: 503, notices: ['vendor_refused_us'] });
    expect(found.message).not.toMatch(/canary|key|billing|quota|credit/i);
  }
});

test.for([
  [body(429, 'Resource has been exhausted (e.g. check quota).', exhausted), 17],
  [body(429, `${spent}\nPlease retry in 26s.`, exhausted, [quota(PER_MINUTE), help, retry('26s')]), 26],
  [body(429, spent, exhausted, [quota(TOKENS), help, retry('20.044s')]), 21],
  [body(429, spent, exhausted, [quota(PER_MINUTE)]), 17],
  [body(429, `${spent}\nPlease retry in 11.7s.`, exhausted), 17],
  [body(429, spent, exhausted, [retry('0.2s')]), 1],
  [body(429, spent, exhausted, [retry('9000s')]), 300],
  [body(429, 'slow down', exhausted, [retry('soon')]), 17],
  [[body(429, spent, exhausted, [retry('26s')])], 26],
  [undefined, 17],
] as const)('ERR-2 a rate that is too high is upstream_capacity with the retry time: %j', ([answer, seconds]) => {
  const found = refusal(429, answer);
  expect(found).toMatchObject({ code: 'upstream_capacity', status: 429, retryAfterSeconds: seconds, notices: [] });
  expect(found.message).not.toMatch(/quota|billing/i);
});

test.for([
  ['Invalid value at tools[0]: "API key not valid. Please pass a valid API key."'],
  ['* GenerateContentRequest.contents: You exceeded your current quota, please check your plan'],
  ['Unable to parse "Your prepayment credits are depleted"'],
] as const)('ERR-9 the client’s text in a refusal is not about the gateway’s account: %s', ([message]) => {
  for (const protocol of ['generate_content', 'chat_completions'] as const) {
    expect(refusal(400, body(400, message), protocol)).toMatchObject({
      code: 'invalid_request_error',
      message,
      notices: [],
    });
  }
});

test('ERR-9 400 keeps the message, and the field if the client uses this protocol', () => {
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'generation_config', description: 'x' }],
    },
  ];
  const answer = body(
    400,
    'Invalid JSON payload received. Unknown name "a" at \'generation_config\'',
    'INVALID_ARGUMENT',
    details,
  );
  expect(refusal(400, answer)).toMatchObject({
    code: 'invalid_request_error',
    status: 400,
    param: 'generation_config',
  });
  const chat = refusal(400, answer, 'chat_completions');
  expect(chat).toMatchObject({ code: 'invalid_request_error', param: null, message: answer.error.message });
});

test.for([
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'The input token count exceeds the maximum number of tokens allowed 1048576.',
])('CHAT-13 a prompt that is too long names the client’s field: %s', (message) => {
  expect(refusal(400, body(400, message))).toMatchObject({
    code: 'context_length_exceeded',
    param: 'contents',
    message: `contents: ${message}`,
  });
  expect(refusal(400, body(400, message), 'chat_completions')).toMatchObject({
    code: 'context_length_exceeded',
    param: 'messages',
  });
});

test.for([
  [
    'Unable to process input image. Please retry or report in https://developers.generativeai.google',
    'invalid_image_format',
  ],
  ['Provided image is not valid.', 'invalid_image_format'],
  ['Unsupported MIME type: image/gif', 'invalid_image_format'],
  [
    '* GenerateContentRequest.contents[0].parts[1].inline_data.mime_type: MIME type must be image/png, image/jpeg',
    'invalid_image_format',
  ],
  ['Unsupported MIME type: video/foo', 'invalid_request_error'],
  ['Thinking level XHIGH is not supported for this model.', 'invalid_request_error'],
  ['Request contains an invalid argument.', 'invalid_request_error'],
] as const)('CHAT-6 %s is %s', ([message, code]) => {
  expect(refusal(400, body(400, message))).toMatchObject({ code, status: 400, message, notices: [] });
});

test.for([
  'You do not have permission to access the File abc or it may not exist.',
  'CachedContent not found (or permission denied)',
])('ERR-9 a wrong file of the client is not about the provider key: %s', (message) => {
  expect(refusal(403, body(403, message, 'PERMISSION_DENIED'))).toMatchObject({
    code: 'invalid_request_error',
    message,
    notices: [],
  });
});

test('ERR-9 404 is 503 model_unavailable with an alarm', () => {
  const answer = body(404, 'models/x is not found for API version v1beta', 'NOT_FOUND');
  expect(refusal(404, answer)).toMatchObject({
    code: 'model_unavailable',
    status: 503,
    notices: ['vendor_model_missing'],
  });
});

test.for([
  [503, body(503, 'The model is overloaded. Please try again later.', 'UNAVAILABLE'), 'service_unavailable', 503],
  [500, body(500, 'An internal error has occurred.', 'INTERNAL'), 'upstream_error', 502],
  [499, body(499, 'x', 'CANCELLED'), 'upstream_error', 502],
  [504, body(504, 'Deadline expired', 'DEADLINE_EXCEEDED'), 'upstream_timeout', 504],
  [302, undefined, 'upstream_error', 502],
] as const)('ERR-9 %i %j is %s', ([status, answer, code, ours]) => {
  expect(refusal(status, answer)).toMatchObject({ code, status: ours, notices: [] });
});

test.for([
  undefined,
  null,
  '',
  'text',
  [],
  [[]],
  {},
  { error: 'words' },
  { error: null },
  { error: { message: 7, details: 'x' } },
  { error: { details: [1, { violations: 'x' }] } },
])('ERR-9 an unreadable body %j still has a message', (answer) => {
  expect(refusal(400, answer)).toMatchObject({ code: 'invalid_request_error', param: null });
  expect(refusal(400, answer).message).not.toBe('');
  expect(refusal(429, answer).code).toBe('upstream_capacity');
  expect(refusal(500, answer).code).toBe('upstream_error');
});

test('ERR-5 the provider key is never shown', () => {
  expect(refusal(400, body(400, 'see AIza-canary')).message).toBe('see [redacted]');
});
