import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { toEditParams, toGenerationParams } from '../../../../lambdas/protocols/images/request.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { imageModels } from '../../core/images/image-models.ts';
import { png } from '../videos/images.ts';
import { PROMPT } from './image-requests.ts';

const URL_ONE = 'https://a.example/one.png';
const picture = `data:image/png;base64,${Buffer.from(png(64, 32)).toString('base64')}`;

const bodies = fc.dictionary(
  fc.oneof(
    fc.constantFrom('size', 'n', 'quality', 'image', 'input_image', 'input_image_2', 'width', 'height', 'mask', 'user'),
    fc.constantFrom('aspect_ratio', 'background', 'output_format', 'stream', 'sequential_image_generation'),
    fc.string(),
  ),
  fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(
      '1K',
      '1024x1024',
      'auto',
      'low',
      1,
      2,
      1024,
      '16:9',
      URL_ONE,
      [URL_ONE],
      picture,
      'data:,',
      'disabled',
    ),
  ),
);

const runs = randomRuns(import.meta.filename, { quick: 300, long: 2_000 });

test('ERR-8 any body becomes either a request or an error with a field', () => {
  let asks = 0;
  const judge = (work: () => unknown): void => {
    try {
      work();
      asks += 1;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      expect([400, 422]).toContain(error.status);
      expect(error.param).toEqual(expect.any(String));
    }
  };
  fc.assert(
    fc.property(fc.constantFrom(...imageModels), bodies, (model, body) => {
      const json = JSON.parse(JSON.stringify({ model: model.id, prompt: PROMPT, ...body }));
      judge(() => toGenerationParams(json).validateFor(model));
      judge(() => toGenerationParams(JSON.parse(JSON.stringify(body))));
    }),
    runs,
  );
  const parts = fc.array(fc.tuple(fc.oneof(fc.constantFrom('size', 'n', 'image', 'stream'), fc.string()), fc.string()));
  const files = fc.array(fc.tuple(fc.constantFrom('image', 'image[]', 'mask', 'x'), fc.uint8Array()));
  fc.assert(
    fc.property(fc.constantFrom(...imageModels), parts, files, (model, texts, raw) => {
      const fields = texts.map(([name, value]) => ({ name, value }));
      const common = [...fields, { name: 'model', value: model.id }, { name: 'prompt', value: PROMPT }];
      const sent = raw.map(([field, bytes]) => ({ field, fileName: 'f', mediaType: '', bytes }));
      judge(() => toEditParams({ fields: common, files: sent }).validateFor(model));
    }),
    runs,
  );
  expect(asks).toBeGreaterThan(0);
});
