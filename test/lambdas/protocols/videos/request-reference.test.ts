import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { toReference } from '../../../../lambdas/protocols/videos/request.ts';
import { byTokens, videoModel } from '../../core/videos/video-samples.ts';
import { jpeg, png, webp } from './images.ts';

const model = videoModel(byTokens());
const size = { width: 1280, height: 720 };

const refusalOf = (bytes: Uint8Array, asked = size, of = model): GatewayError => {
  try {
    toReference(bytes, of, asked);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('not rejected');
};

/** Bytes as a form has them: a part of a larger buffer. */
const within = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.alloc(33, 0xff), bytes, Buffer.alloc(9)]).subarray(33, 33 + bytes.length);

test.for([
  ['image/png', png(1280, 720)],
  ['image/jpeg', jpeg(1280, 720)],
  ['image/jpeg', jpeg(1280, 720, 400_000)],
  ['image/webp', webp(1280, 720)],
] as const)('VID-2 %s of exactly the size is the first frame', ([mediaType, bytes]) => {
  const part = within(bytes);
  const reference = toReference(part, model, size);
  expect(reference.mediaType).toBe(mediaType);
  expect(reference.bytes).toBe(part);
});

test.for([
  ['1279x720', png(1279, 720)],
  ['1280x721', jpeg(1280, 721)],
  ['720x1280', webp(720, 1280)],
] as const)('VID-2 a reference of %s is 400 invalid_size that names both sizes', ([actual, bytes]) => {
  const refusal = refusalOf(within(bytes));
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_size', param: 'input_reference' });
  expect(refusal.message).toBe(
    `input_reference: the image is ${actual}, but size is 1280x720. Send an image of 1280x720.`,
  );
});

test.for([
  ['nothing', new Uint8Array()],
  ['a GIF', Buffer.from('GIF89a\x00\x05\xd0\x02')],
  ['text', Buffer.from('<svg width="1280" height="720"></svg>')],
] as const)('VID-2 %s is 400 invalid_image_format', ([, bytes]) => {
  const refusal = refusalOf(bytes);
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_image_format', param: 'input_reference' });
  expect(refusal.message).toBe('input_reference: must be a PNG, JPEG or WebP image.');
});

test('ERR-5 an image truncated before its dimensions is 400, and leaks no neighboring memory', () => {
  for (const [bytes, whole] of [
    [png(1280, 720), 24],
    [jpeg(1280, 720), 31],
    [webp(1280, 720), 30],
  ] as const) {
    for (let end = 0; end < whole; end += 1) {
      expect(refusalOf(within(bytes.subarray(0, end))), `cut at ${end}`).toMatchObject({
        code: 'invalid_image_format',
        param: 'input_reference',
      });
    }
    expect(toReference(within(bytes.subarray(0, whole)), model, size).mediaType).toMatch(/^image/);
  }
});

test('GEN-11 a model without first frames rejects the file before it is read', () => {
  const video = {
    seconds: ['4'],
    sizes: ['1280x720'],
    tokens: { framesPerSecond: 24, divisor: 1024 },
    inputReference: false,
  };
  const refusal = refusalOf(new Uint8Array(), size, videoModel(byTokens({ video })));
  expect(refusal).toMatchObject({ status: 400, code: 'invalid_request_error', param: 'input_reference' });
  expect(refusal.message).toBe('input_reference: "film-1" does not accept a first frame. Remove the file.');
});
