import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { imageModel } from '../../core/images/image-models.ts';
import { fileOf, jpeg, png, webp } from '../videos/images.ts';
import { edit, editOrder, type FormEntry, PROMPT } from './image-requests.ts';

const refusal = async (work: Promise<unknown>): Promise<GatewayError> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('not rejected');
};

const picture = (width = 64, height = 64) => fileOf(png(width, height));

test('IMG-5 an edit has the fields of a generation, and its images in order', async () => {
  const texts: readonly FormEntry[] = [
    ['n', '3'],
    ['size', '1024x1536'],
    ['quality', 'high'],
    ['user', 'end-user-1'],
    ['background', 'opaque'],
    ['stream', 'false'],
  ];
  const order = await editOrder(
    ['image', picture(10, 20)],
    ...texts,
    ['image', fileOf(jpeg(30, 40))],
    ['model', 'gpt-image-2'],
    ['image', fileOf(webp(50, 60))],
    ['prompt', PROMPT],
    ['response_format', 'b64_json'],
  );
  expect(order).toMatchObject({
    protocol: 'images_edits',
    modelId: 'gpt-image-2',
    format: 'b64_json',
    endUser: 'end-user-1',
  });
  expect(order.validateFor(imageModel('gpt-image-2'))).toMatchObject({
    prompt: PROMPT,
    n: 3,
    size: { width: 1024, height: 1536 },
    quality: 'high',
    references: [
      { kind: 'file', param: 'image[0]', file: { mediaType: 'image/png', width: 10, height: 20 } },
      { kind: 'file', param: 'image[1]', file: { mediaType: 'image/jpeg', width: 30, height: 40 } },
      { kind: 'file', param: 'image[2]', file: { mediaType: 'image/webp', width: 50, height: 60 } },
    ],
    mask: undefined,
    extras: { background: 'opaque' },
  });
});

test('IMG-5 file fields with brackets or an index are read like those without', async () => {
  const ask = await edit(
    'gpt-image-2',
    ['image[]', picture(1, 2)],
    ['image[2]', picture(3, 4)],
    ['mask[]', picture(64, 64)],
  );
  expect(ask.references.map((each) => (each.kind === 'file' ? each.file.width : 0))).toEqual([64, 1, 3]);
  expect(ask.mask).toMatchObject({ width: 64 });
});

test('IMG-5 empty fields and empty file inputs of a form count as absent', async () => {
  const names = ['n', 'size', 'quality', 'user', 'background', 'stream', 'partial_images', 'response_format', 'mask'];
  const ask = await edit(
    'gpt-image-2',
    ...names.map((name): FormEntry => [name, '']),
    ['mask', new File([], '')],
    ['image', new File([], '')],
  );
  expect(ask).toMatchObject({ n: 1, quality: undefined, endUser: undefined, mask: undefined, extras: {} });
  expect(ask.references).toHaveLength(1);
});

test.for(['False', 'false', '0'])('IMG-5 the text %s in stream means false', async (stream) => {
  expect(await edit('gpt-image-2', ['stream', stream])).toMatchObject({ n: 1 });
});

const families = [
  ['gpt-image-2', '1024x1024', undefined],
  ['gpt-image-2-fixed', '3840x2560', 'high'],
  ['gpt-image-2-prompt', '1024x1024', 'low'],
  ['gemini-3-pro-image', '2K', undefined],
  ['gemini-nano-banana-2.1', '2048x2048', undefined],
] as const;

test.for(families)('IMG-5 %s accepts an edit with a size of its own kind', async ([model, size, quality]) => {
  const ask = await edit(model, ['size', size]);
  expect(ask).toMatchObject({ n: 1, quality, references: [{ param: 'image' }], extras: {} });
});

test('IMG-5 a mask is a PNG as large as the first image, if the entry supports masks', async () => {
  const { mask } = await edit('gpt-image-2', ['image', picture(1, 1)], ['mask', picture()]);
  expect(mask).toMatchObject({ mediaType: 'image/png', width: 64, height: 64 });
});

const format = 'invalid_image_format';
const plain = 'invalid_request_error';
const many = Array.from({ length: 16 }, (): FormEntry => ['image', picture()]);

const refused: readonly (readonly [
  model: string,
  entries: readonly FormEntry[],
  code: string,
  param: string,
  words: string,
])[] = [
  ['gpt-image-2', [['mask', picture(64, 65)]], format, 'mask', 'the mask is 64x65, but the first image is 64x64'],
  ['gpt-image-2', [['mask', fileOf(jpeg(64, 64))]], format, 'mask', 'must be a PNG'],
  ['gpt-image-2', [['mask', fileOf(new Uint8Array())]], format, 'mask', 'PNG, JPEG or WebP'],
  [
    'gpt-image-2',
    [
      ['mask', picture()],
      ['mask', picture()],
    ],
    plain,
    'mask',
    'sent twice',
  ],
  ['gpt-image-2', [['mask', 'data:']], plain, 'mask', 'send the image as one file'],
  ['gpt-image-2-fixed', [['mask', picture()]], plain, 'mask', 'not supported'],
  ['gpt-image-2', many, plain, 'image', 'at most 16'],
  ['gemini-3.1-flash-lite-image', many.slice(0, 3), plain, 'image', 'at most 3'],
  ['gpt-image-2', [['image', fileOf(Buffer.from('<svg/>'))]], format, 'image[1]', 'PNG, JPEG or WebP'],
  ['gpt-image-2', [['image', picture(10_000, 10_000)]], format, 'image[1]', '64000000 pixels'],
  ['gpt-image-2', [['image', 'https://a.example/a.png']], plain, 'image', 'send the image as one file'],
  ['gpt-image-2', [['prompt', 'again']], plain, 'prompt', 'sent twice'],
  ['gpt-image-2', [['size', picture()]], plain, 'size', 'must be text'],
  ['gpt-image-2', [['markup', picture()]], plain, 'markup', 'unknown file field'],
  ['gpt-image-2', [['n', '0']], plain, 'n', 'at least 1'],
  ['gpt-image-2', [['n', '99999999999']], plain, 'n', 'whole number'],
  ['gpt-image-2', [['stream', 'True']], plain, 'stream', 'not streamed'],
  ['gpt-image-2', [['stream', '1']], plain, 'stream', 'not streamed'],
  ['gpt-image-2', [['input_fidelity', 'high']], plain, 'input_fidelity', 'not supported'],
];

test.for(refused)('IMG-5 %s rejects %o', async ([model, entries, code, param, words]) => {
  const { code: got, param: at, message } = await refusal(edit(model, ...entries));
  expect([got, at]).toEqual([code, param]);
  expect(message).toContain(words);
});

test('IMG-5 an edit without an image names the field', async () => {
  const order = await editOrder(['model', 'gpt-image-2'], ['prompt', PROMPT]);
  const error = await refusal(Promise.resolve().then(() => order.validateFor(imageModel('gpt-image-2'))));
  expect(error).toMatchObject({ code: plain, param: 'image' });
});
