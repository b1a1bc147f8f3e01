import { expect, test } from 'vitest';
import { CANARY, errorOf } from '../video-wire-world.ts';
import { bflWorld } from './bfl-world.ts';

const refused = async (status: number, body: object | string, headers = {}) => {
  const bfl = bflWorld({ status, body, headers });
  const error = await errorOf(bfl.draw());
  expect(bfl.requests).toHaveLength(1);
  return { error, notices: bfl.notices };
};

const listOf = (loc: readonly (string | number)[], msg: string, type = 'value_error') => ({
  detail: [
    { type, loc, msg, input: 'A cat', ctx: {} },
    { type, loc: ['body', 'seed'], msg: 'another' },
  ],
});

test.for([
  [422, listOf(['body', 'width'], 'Input should be a multiple of 16'), 'invalid_size', 'width'],
  [422, listOf(['body', 'Flux2Inputs', 'height'], 'Input should be greater'), 'invalid_size', 'height'],
  [422, listOf(['body', 'input_image_3'], 'Invalid base64'), 'invalid_image_format', 'input_image_3'],
  [422, listOf(['body', 'output_format'], 'Not an image format'), 'invalid_request_error', 'output_format'],
  [422, listOf(['body', 'webhook_url'], 'Input should be a URL'), 'invalid_request_error', null],
  [422, listOf(['body', 'prompt'], 'The prompt is too long'), 'context_length_exceeded', 'prompt'],
  [422, listOf(['body', 'prompt'], 'no', 'request_moderated'), 'content_filter', 'prompt'],
  [400, { detail: 'Failed to fetch the input image' }, 'invalid_image_format', null],
  [400, { detail: 'Something is wrong' }, 'invalid_request_error', null],
  [400, { message: 'Something is wrong' }, 'invalid_request_error', null],
] as const)('ERR-9 %i %j is %s about %s', async ([status, body, code, param]) => {
  const { error, notices } = await refused(status, body);
  expect(error).toMatchObject({ code, param, status: 400 });
  expect(error.message).not.toContain('another');
  expect(notices).toEqual([]);
});

test.for([{}, { detail: [] }, { detail: [7] }, { detail: null }, '<html>', ''])(
  'ERR-9 a 400 with %j still has a message',
  async (body) => {
    expect((await refused(400, body)).error).toMatchObject({
      code: 'invalid_request_error',
      message: 'The provider rejected the request.',
    });
  },
);

test('ERR-5 a key that the provider quotes is not shown', async () => {
  const { error } = await refused(400, { detail: `The key ${CANARY} may not do that` });
  expect(error.message).toBe('The key [redacted] may not do that');
});

test.for([
  [401, { detail: 'Not authenticated' }],
  [402, { detail: 'Insufficient credits' }],
  [403, { detail: 'Not authenticated - Invalid Authentication' }],
  [403, '<html>'],
  [400, { detail: 'Insufficient credits. Please top up.' }],
  [429, { detail: 'Insufficient credits' }],
] as const)('ERR-3 %i %j is 503 and reported', async ([status, body]) => {
  const { error, notices } = await refused(status, body);
  expect(error).toMatchObject({ code: 'service_unavailable', status: 503, retryAfterSeconds: 30 });
  expect(notices).toEqual(['vendor_refused_us bfl']);
});

test('ERR-9 a model that is gone is reported', async () => {
  const { error, notices } = await refused(404, { detail: 'Not Found' });
  expect(error).toMatchObject({ code: 'model_unavailable', status: 503 });
  expect(notices).toEqual(['vendor_model_missing bfl']);
});

test.for([
  [429, 'upstream_capacity', 429],
  [500, 'upstream_error', 502],
  [503, 'service_unavailable', 503],
  [504, 'upstream_timeout', 504],
] as const)('GEN-5 a creation with status %i is %s, and is not sent again', async ([status, code, ours]) => {
  const { error, notices } = await refused(status, { detail: 'no' }, { 'retry-after': '9' });
  expect(error).toMatchObject({ code, status: ours, upstreamFailed: true });
  if (status === 429) expect(error.retryAfterSeconds).toBe(9);
  expect(notices).toEqual([]);
});
