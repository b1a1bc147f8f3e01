import { expect, test } from 'vitest';
import { invalidImageFile, invalidSize, moderationBlocked } from '../../../fixtures/openai/images.ts';
import { errorOf } from '../video-wire-world.ts';
import { CANARY, imageFile, imageWorld, referenceTo } from './images-world.ts';

const references = ['image', 'input_image_2'].map((param) => referenceTo(imageFile('x'), param));
const play = async (status: number, error: unknown) => {
  const world = imageWorld({ status, body: { error } });
  return { error: await errorOf(world.draw({ references })), notices: world.notices };
};

test.for([
  [400, moderationBlocked, 'content_filter', null],
  [200, moderationBlocked, 'content_filter', null],
  [200, { code: 'moderation_blocked', message: 'no' }, 'content_filter', null],
  [400, invalidSize, 'invalid_size', 'size'],
  [200, invalidSize, 'invalid_size', 'size'],
  [400, invalidImageFile, 'invalid_image_format', 'input_image_2'],
  [400, { ...invalidImageFile, message: 'Invalid image file.' }, 'invalid_image_format', 'image'],
  [400, { ...invalidImageFile, message: 'Invalid image file or mode for image 9' }, 'invalid_image_format', 'image'],
  [
    400,
    { message: "Invalid file 'image[1]': unsupported mimetype", param: 'image[1]', code: 'unsupported_file_mimetype' },
    'invalid_image_format',
    'input_image_2',
  ],
  [400, { message: 'too many', param: 'image', code: 'array_above_max_length' }, 'invalid_request_error', 'image'],
  [400, { message: 'too many', param: 'image[]' }, 'invalid_request_error', 'image'],
  [
    400,
    { message: 'Invalid mask image format - mask size does not match image size', code: 'invalid_mask_image_format' },
    'invalid_image_format',
    'mask',
  ],
  [400, { message: 'maximum context length is 32000' }, 'context_length_exceeded', 'prompt'],
  [403, { message: 'Your organization must be verified' }, 'service_unavailable', null],
  [429, { type: 'insufficient_quota' }, 'service_unavailable', null],
  [400, { code: 'billing_hard_limit_reached', type: 'image_generation_user_error' }, 'service_unavailable', null],
  [404, { code: 'model_not_found' }, 'model_unavailable', 'model'],
  [200, { type: 'server_error', message: 'x' }, 'upstream_error', null],
  [200, { type: 'insufficient_quota', message: 'x' }, 'service_unavailable', null],
] as const)('ERR-3 and ERR-9 %i with the error %j is %s about %s', async ([status, error, code, param]) => {
  const played = await play(status, error);
  expect(played.error).toMatchObject({ code, param });
  expect(played.notices.includes('vendor_refused_us openai')).toBe(code === 'service_unavailable');
});

test('IMG-5 a refusal of a file names the client’s field', async () => {
  const { error } = await play(400, invalidImageFile);
  expect(error.message).toContain('input_image_2: Invalid image file');
});

test.for([200, 400, 401, 404, 413, 429, 500, 503])(
  'ERR-5 an error of status %i never shows the provider key',
  async (status) => {
    for (const type of ['invalid_request_error', 'image_generation_user_error', 'server_error']) {
      const quoted = `Incorrect key ${CANARY}`;
      const { error } = await play(status, { message: quoted, type, param: `image[${CANARY}]`, code: quoted });
      expect(`${error.message} ${error.param} ${error.code}`).not.toContain(CANARY);
    }
  },
);
