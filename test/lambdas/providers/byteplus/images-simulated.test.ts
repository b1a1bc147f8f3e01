import { imageSize } from 'image-size';
import { expect, test } from 'vitest';
import { createArkImageWire } from '../../../../lambdas/providers/byteplus/images-wire.ts';
import { urlReference } from '../drawing-world.ts';
import { simulatedDrawing } from '../simulated-drawing.ts';
import { errorOf } from '../video-wire-world.ts';

const at = (modelId: string) => simulatedDrawing({ create: createArkImageWire, modelId, path: '/api/v3' });

const draws = {
  'seedream-4-0': at('seedream-4-0'),
  'seedream-4-5': at('seedream-4-5'),
  'seedream-5-0-lite': at('seedream-5-0-lite'),
  'seedream-5-5': at('seedream-5-5'),
};
const draw = draws['seedream-4-0'];
const size = { kind: 'pixels', width: 1_280, height: 720, asked: '1280x720', tier: undefined } as const;

test.for(Object.entries(draws))('IMG-1 %s draws a picture of the size asked for, from others', async ([, drawWith]) => {
  const references = [urlReference('https://example.com/1.png'), urlReference('https://example.com/2.png')];
  const { drawing, files } = await drawWith('a sea', { references, extras: { watermark: true } });
  expect(imageSize(Buffer.from(files[0] ?? ''))).toMatchObject({ width: 2_048, height: 2_048 });
  expect(drawing.usage).toBeUndefined();
});

test.for(['seedream-5-0-lite', 'seedream-5-5'] as const)('GEN-9 %s has the field output_format', async (modelId) => {
  expect((await draws[modelId]('a sea', { extras: { output_format: 'png' } })).files).toHaveLength(1);
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
  ['[[status 429]]', 'upstream_capacity'],
  ['[[garbage]]', 'upstream_error'],
  ['[[redirect]]', 'upstream_error'],
  ['[[reset]]', 'upstream_error'],
  ['[[cut]]', 'upstream_error'],
] as const)('ERR-9 %s is %s', async ([marker, code]) => {
  expect(await errorOf(draw(`a sea ${marker}`, { size }))).toMatchObject({ code });
});

test('ERR-9 what the vendor refuses names the field', async () => {
  const small = { ...size, width: 640 };
  expect(await errorOf(draw('x', { size: small }))).toMatchObject({ code: 'invalid_request_error', param: 'size' });
  const references = [urlReference('https://host.invalid/a.png')];
  expect(await errorOf(draw('x', { size, references }))).toMatchObject({
    code: 'invalid_image_format',
    param: 'image',
  });
});
