import { imageSize } from 'image-size';
import { expect, test } from 'vitest';
import { createBflWire } from '../../../../lambdas/providers/bfl/images-wire.ts';
import { pictureOf } from '../../../../lib/local/upstreams/picture.ts';
import { simulatedDrawing } from '../simulated-drawing.ts';
import { errorOf } from '../video-wire-world.ts';

const draw = simulatedDrawing({
  create: (options) => createBflWire({ ...options, pollMs: () => 5 }),
  modelId: 'flux-2-pro',
  path: '',
});

const size = { kind: 'pixels', width: 512, height: 256, asked: '512x256', tier: undefined } as const;

test('IMG-1 a picture of the size asked for, drawn from another, with its megapixels', async () => {
  const bytes = pictureOf({ width: 1_000, height: 500, about: 'x' });
  const file = { mediaType: 'image/png', bytes, width: 1_000, height: 500 } as const;
  const references = [{ kind: 'file', file, param: 'input_image' }] as const;
  const extras = { seed: 1, output_format: 'png', safety_tolerance: 2 };
  const { drawing, files } = await draw('a sea [[takes 60]]', { size, references, extras });
  expect(imageSize(Buffer.from(files[0] ?? ''))).toMatchObject({ width: 512, height: 256 });
  expect(drawing.milliMegapixels).toEqual({ output: 130, reference: 500 });
});

test.for([
  ['[[image-fails]]', 'upstream_error'],
  ['[[image-blocked]]', 'content_filter'],
  ['[[content-filter]]', 'content_filter'],
  ['[[image-broken]]', 'upstream_error'],
  ['[[image-missing]]', 'upstream_error'],
  ['[[vendor-quota]]', 'service_unavailable'],
  ['[[vendor-401]]', 'service_unavailable'],
  ['[[vendor-404]]', 'model_unavailable'],
  ['[[context-length]]', 'context_length_exceeded'],
  ['[[status 429]]', 'upstream_capacity'],
  ['[[garbage]]', 'upstream_error'],
  ['[[redirect]]', 'upstream_error'],
  ['[[reset]]', 'upstream_error'],
  ['[[cut]]', 'upstream_error'],
] as const)('ERR-9 %s is %s', async ([marker, code]) => {
  expect(await errorOf(draw(`a sea [[takes 0]] ${marker}`, { size }))).toMatchObject({ code });
});

test('GEN-5 looks that fail for a while cost nothing but time', async () => {
  const { files } = await draw('a sea [[takes 0]] [[video-poll-error 60]] [[video-unknown 90]]', { size });
  expect(files).toHaveLength(1);
});

test('ERR-9 what the vendor refuses names the field', async () => {
  const odd = { ...size, width: 520 };
  expect(await errorOf(draw('x', { size: odd }))).toMatchObject({ code: 'invalid_request_error', param: 'width' });
  const references = [{ kind: 'url', url: 'https://host.invalid/a.png', param: 'input_image' }] as const;
  expect(await errorOf(draw('x', { size, references }))).toMatchObject({ code: 'invalid_image_format' });
});
