import { expect, test } from 'vitest';
import { createArkVideoWire } from '../../../../lambdas/providers/byteplus/video-wire.ts';
import { refusal } from '../../../fixtures/byteplus/video-tasks.ts';
import { errorOf, wireWorld } from '../video-wire-world.ts';

const refused = async (status: number, body: object | string) => {
  const world = wireWorld(createArkVideoWire, { status, body });
  const error = await errorOf(world.create());
  return { error, notices: world.notices };
};

const sensitive = 'The request failed because the input text may contain sensitive information.';

test.for([
  [
    'InvalidParameter',
    'The parameter `duration` specified in the request is not valid: too long.',
    'invalid_request_error',
    'seconds',
  ],
  ['InvalidParameter', 'The parameter `resolution` specified in the request is not valid.', 'invalid_size', 'size'],
  ['InvalidParameter.ratio', 'The specified parameter ratio is invalid.', 'invalid_size', 'size'],
  ['InvalidParameter', 'One or more parameters specified in the request are not valid.', 'invalid_request_error', null],
  ['MissingParameter', 'The request failed because it is missing one parameter.', 'invalid_request_error', null],
  ['InvalidImageURL.InvalidFormat', 'Invalid base64 image url', 'invalid_image_format', 'input_reference'],
  [
    'InvalidParameter',
    'The parameter `content[1].image_url` specified in the request is not valid: too small.',
    'invalid_image_format',
    'input_reference',
  ],
  ['InvalidParameter', 'image size must be at least 300 px.', 'invalid_image_format', 'input_reference'],
  ['InputTextSensitiveContentDetected', sensitive, 'content_filter', 'prompt'],
  ['InputTextSensitiveContentDetected.PolicyViolation', sensitive, 'content_filter', 'prompt'],
  ['SensitiveContentDetected.SevereViolation', sensitive, 'content_filter', null],
  ['InputTextRiskDetection', 'The request could not be processed.', 'content_filter', 'prompt'],
  [
    'InputImageSensitiveContentDetected.PrivacyInformation',
    'may contain real person.',
    'content_filter',
    'input_reference',
  ],
  ['OutofContextError', 'Total tokens exceed max message tokens.', 'context_length_exceeded', 'prompt'],
] as const)('ERR-9 400 %s, %j is %s about %s', async ([vendorCode, words, code, param]) => {
  const { error, notices } = await refused(400, refusal(vendorCode, words));
  expect(error).toMatchObject({ code, param, status: 400 });
  expect(error.message).toContain(words.replace(/\.$/, ''));
  expect(error.message).not.toMatch(/request id/i);
  expect(notices).toEqual([]);
});

test('ERR-9 the provider’s field becomes the client’s field', async () => {
  expect((await refused(400, refusal('InvalidParameter', 'no', 'BadRequest', 'duration'))).error.param).toBe('seconds');
  expect((await refused(400, refusal('InvalidParameter', 'no', 'BadRequest', 'content'))).error.param).toBe('prompt');
  expect((await refused(400, refusal('InvalidParameter', 'no', 'BadRequest', 'watermark'))).error.param).toBeNull();
});

test.for([
  [401, 'AuthenticationError', 'The API key is missing or invalid.'],
  [401, 'InvalidAccountStatus', 'There is an issue with your account status.'],
  [403, 'AccountOverdueError', 'The request failed because your account has an overdue balance.'],
  [403, 'AccessDenied', 'You do not have access to the requested resource.'],
  [403, 'OperationDenied.ServiceOverdue', 'Your account balance is overdue.'],
  [403, 'OperationDenied.ServiceNotOpen', 'The model service is unavailable.'],
  [404, 'ModelNotOpen', 'Your account 2100000001 has not activated the model.'],
  [404, 'InvalidEndpointOrModel.ModelIDAccessDisabled', 'Not allowed for your account.'],
  [400, 'InvalidEndpoint.ClosedEndpoint', 'The endpoint is closed.'],
  [400, 'InvalidSubscription', 'Your account (2100000001) does not have a valid plan.'],
  [429, 'SetLimitExceeded', 'Your account [2100000001] has reached the set inference limit.'],
  [429, 'QuotaExceeded', 'Your account [2100000001] has exhausted its free trial quota for the [x] model.'],
  [429, 'QuotaExceeded', 'You have exceeded the monthly usage quota. It will reset at 2026-12-01.'],
  [429, 'AccountQuotaExceeded', 'x'],
] as const)('ERR-3 %i %s, %j is 503 and reported', async ([status, code, words]) => {
  const { error, notices } = await refused(status, refusal(code, words, 'Forbidden'));
  expect(error).toMatchObject({ code: 'service_unavailable', status: 503, retryAfterSeconds: 30, param: null });
  expect(error.message).not.toMatch(/2100000001|account/i);
  expect(notices).toEqual(['vendor_refused_us openai']);
});

test.for([
  ['ServerOverloaded', 'The service is currently unable to handle additional requests.'],
  ['RequestBurstTooFast', 'System protection triggered by request burst.'],
  ['QuotaExceeded', 'The request has exceeded the quota.'],
  ['RateLimitExceeded.EndpointRPMExceeded', 'The limit of the associated endpoint for your account has been exceeded.'],
  ['ModelAccountRpmRateLimitExceeded', 'RPM limit of the model is exceeded.'],
  ['InflightBatchsizeExceeded', 'The Inflight Batchsize limit has been exceeded.'],
  ['AccountRateLimitExceeded', 'Requests are too frequent.'],
] as const)('ERR-9 429 %s, %j is upstream_capacity', async ([code, words]) => {
  const { error, notices } = await refused(429, refusal(code, words, 'TooManyRequests'));
  expect(error).toMatchObject({ code: 'upstream_capacity', status: 429, retryAfterSeconds: 5 });
  expect(notices).toEqual([]);
});

test.for([
  [404, refusal('InvalidEndpointOrModel.NotFound', 'x'), 'model_unavailable'],
  [500, refusal('InternalServiceError', 'x'), 'upstream_error'],
  [400, refusal('ContentSecurityDetectionError', 'Internal error.'), 'upstream_error'],
  [503, '', 'service_unavailable'],
  [504, '<html>', 'upstream_timeout'],
  [400, '<html>', 'invalid_request_error'],
  [400, { error: 'text' }, 'invalid_request_error'],
  [400, { error: { code: 5, message: null } }, 'invalid_request_error'],
] as const)('ERR-9 %i with %j is %s', async ([status, body, code]) => {
  expect((await refused(status, body)).error).toMatchObject({ code });
});

test('ERR-9 a long blank message is read in linear time', async () => {
  const { error } = await refused(400, refusal('InvalidParameter', `${' '.repeat(1_000_000)}x`));
  expect(error).toMatchObject({ code: 'invalid_request_error' });
});
