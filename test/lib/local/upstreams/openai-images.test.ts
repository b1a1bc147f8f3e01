import { imageSize } from 'image-size';
import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { readImageForm } from '../../../../lib/local/upstreams/openai/images-form.ts';
import { pictureOf } from '../../../../lib/local/upstreams/picture.ts';
import { type Simulator, startSimulator } from '../../../../lib/local/upstreams/server.ts';

let simulator: Simulator;
let openai: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  openai = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

const tokens = z.strictObject({ text_tokens: z.int().min(0), image_tokens: z.int().min(0) });
/** `ImagesResponse` of the vendor's SDK, without what belongs to SVGs and older models. */
const responseSchema = z.strictObject({
  created: z.int().min(1_700_000_000).max(9_999_999_999),
  background: z.enum(['transparent', 'opaque']),
  output_format: z.literal('png'),
  quality: z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
  size: z.string().regex(/^\d+x\d+$/),
  data: z.array(z.strictObject({ b64_json: z.base64() })),
  usage: z.strictObject({
    input_tokens: z.int().min(1),
    input_tokens_details: tokens,
    output_tokens: z.int().min(1),
    output_tokens_details: tokens,
    total_tokens: z.int().min(1),
  }),
});

const model = 'gpt-image-2';
const generate = async (more: Partial<OpenAI.ImageGenerateParamsNonStreaming> = {}) =>
  responseSchema.parse(await openai.images.generate({ model, prompt: 'a quiet sea', ...more }));
const filesOf = ({ data }: OpenAI.ImagesResponse): Buffer[] =>
  (data ?? []).map(({ b64_json: text = '' }) => Buffer.from(text, 'base64'));
const sizeOf = (file: Uint8Array): string => {
  const { type, width, height } = imageSize(file);
  return `${type} ${width}x${height}`;
};
const png = (about: string, width = 64, height = 48): Buffer => pictureOf({ width, height, about });

test('a generation without wishes is one square of the best quality', async () => {
  const drawn = await generate();
  expect(drawn).toMatchObject({ background: 'opaque', quality: 'high', size: '1024x1024' });
  expect(filesOf(drawn).map(sizeOf)).toEqual(['png 1024x1024']);
  expect(drawn.usage).toEqual({
    input_tokens: 3,
    input_tokens_details: { text_tokens: 3, image_tokens: 0 },
    output_tokens: 7_034,
    output_tokens_details: { text_tokens: 0, image_tokens: 7_034 },
    total_tokens: 7_037,
  });
});

test('each image is another one, of exactly the size', async () => {
  const drawn = await generate({ n: 3, size: '1536x864', quality: 'low', background: 'transparent' });
  expect(drawn).toMatchObject({ background: 'transparent', quality: 'low', size: '1536x864' });
  const files = filesOf(drawn);
  expect(files.map(sizeOf)).toEqual(Array.from({ length: 3 }, () => 'png 1536x864'));
  expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(3);
  expect(drawn.usage.output_tokens).toBe(254 * 3);
});

test.each([
  ['low', 200],
  ['medium', 1_767],
  ['high', 7_034],
  ['auto', 7_034],
] as const)('a square of quality %s has %i tokens', async (quality, count) => {
  expect((await generate({ quality })).usage.output_tokens).toBe(count);
});

test('the newer models have more qualities', async () => {
  expect(await generate({ model: 'gpt-image-2.5-flare', quality: 'max' })).toMatchObject({ quality: 'max' });
});

test('a JPEG is asked for and a PNG is told', async () => {
  const drawn = await generate({ output_format: 'jpeg', output_compression: 50 });
  expect([drawn.output_format, ...filesOf(drawn).map(sizeOf)]).toEqual(['png', 'png 1024x1024']);
});

test.each(['1024x640', '3840x2160', '2160x3840', '2880x2880', '1440x480'])(
  'a size of %s is within the bounds',
  async (size) => {
    expect(filesOf(await generate({ size, quality: 'low' })).map(sizeOf)).toEqual([`png ${size}`]);
  },
);

const edit = async (
  image: OpenAI.ImageEditParams['image'],
  more: Partial<OpenAI.ImageEditParamsNonStreaming> = {},
): Promise<z.output<typeof responseSchema>> =>
  responseSchema.parse(await openai.images.edit({ model, prompt: 'a quiet sea', image, ...more }));
const upload = (bytes: Buffer, name: string, type = 'image/png') => toFile(bytes, name, { type });

test('an edit of three files with a mask, which are read in their order', async () => {
  const files = ['one', 'two', 'three'].map((about) => png(about));
  const [one, two, three] = files;
  const mask = png('mask');
  const drawn = await edit([await upload(three!, 'c.png'), await upload(one!, 'a.png'), await upload(two!, 'b.png')], {
    mask: await upload(mask, 'mask.png'),
    n: 2,
    size: '1024x1536',
    quality: 'medium',
    user: 'user-1',
  });
  expect(filesOf(drawn).map(sizeOf)).toEqual(['png 1024x1536', 'png 1024x1536']);
  expect(drawn.usage).toMatchObject({
    input_tokens_details: { text_tokens: 3, image_tokens: 4 * 194 },
    output_tokens: 2 * 2_651,
  });
  const form = readImageForm(simulator.requests[0]!);
  expect(form?.fields).toEqual({
    model,
    prompt: 'a quiet sea',
    n: '2',
    size: '1024x1536',
    quality: 'medium',
    user: 'user-1',
  });
  // The SDK puts lists behind single values, so that a mask comes first.
  expect(form?.files.map(({ name, fileName, bytes }) => [name, fileName, Buffer.from(bytes)])).toEqual([
    ['mask', 'mask.png', mask],
    ['image', 'c.png', three],
    ['image', 'a.png', one],
    ['image', 'b.png', two],
  ]);
});

test('an edit of one file', async () => {
  const drawn = await edit(await upload(png('one', 1_024, 1_024), 'a.png'), { quality: 'low' });
  expect(drawn.usage.input_tokens_details.image_tokens).toBe(581);
});

test('markers decide on the images', async () => {
  const read = async (prompt: string, n = 1) =>
    filesOf(await openai.images.generate({ model, prompt, n, quality: 'low' }));
  expect((await read('[[image-bytes 300000]]')).map(({ length }) => length)).toEqual([300_000]);
  expect(await read('[[image-empty]]', 2)).toEqual([Buffer.alloc(0), Buffer.alloc(0)]);
  expect((await read('[[image-html]]'))[0]?.toString()).toContain('<!doctype html>');
  expect(await read('[[image-fails 2]]', 3)).toHaveLength(1);
  await expect(read('[[image-fails]]', 3)).rejects.toMatchObject({ status: 500 });
  await expect(read('[[image-fails 1]]')).rejects.toMatchObject({ status: 500 });
  const broken = await openai.images.generate({ model, prompt: '[[image-broken]]' });
  expect(z.base64().safeParse(broken.data?.[0]?.b64_json).success).toBe(false);
});

test('markers decide on the usage', async () => {
  const read = async (prompt: string, n = 1) =>
    (await openai.images.generate({ model, prompt, n, quality: 'low' })).usage;
  expect(await read('[[no-usage]]')).toBeUndefined();
  expect(await read('[[tokens 12]]')).toMatchObject({ output_tokens: 12, output_tokens_details: { image_tokens: 12 } });
  expect(await read('[[usage-prompt 90]] [[cached 40]]')).toMatchObject({
    input_tokens: 90,
    input_tokens_details: { text_tokens: 90, image_tokens: 0, cached_tokens: 40 },
  });
  expect(await read('[[image-fails 1]]', 3)).toMatchObject({ output_tokens: 400 });
});

test('markers act from a form, too', async () => {
  const image = await upload(png('one'), 'a.png');
  const drawn = await openai.images.edit({ model, prompt: '[[image-fails 1]]', image: [image], n: 3 });
  expect(drawn.data).toHaveLength(2);
});
