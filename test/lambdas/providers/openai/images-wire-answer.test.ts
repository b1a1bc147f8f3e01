import { expect, test } from 'vitest';
import { createUpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { drawn, imagesResponse } from '../../../fixtures/openai/images.ts';
import { startVendor } from '../vendor-server.ts';
import { errorOf } from '../video-wire-world.ts';
import { imageCall, imageWorld, readAll, wireOver } from './images-world.ts';

const play = (body: object | string | AsyncIterable<Uint8Array>) => imageWorld({ body }).draw();
const playData = (data: unknown) => play({ ...imagesResponse, data });

const text = drawn[0]?.toString('base64') ?? '';

test('IMG-1 the images are in the provider’s order', async () => {
  expect(await readAll(await play(imagesResponse))).toEqual(drawn);
});

test('IMG-1 a prompt that was changed is returned', async () => {
  const { images } = await playData([
    { b64_json: text, revised_prompt: 'A grey cat' },
    { b64_json: text, url: null },
  ]);
  expect(images.map(({ revisedPrompt }) => revisedPrompt)).toEqual(['A grey cat', undefined]);
});

test.for(['data:image/png;base64,', 'data:image/svg+xml;base64,'])('IMG-1 base64 after %s is read', async (prefix) => {
  expect(await readAll(await playData([{ b64_json: prefix + text }]))).toEqual([drawn[0]]);
});

test('IMG-7 items that are not images are dropped', async () => {
  const { images } = await playData([{}, { b64_json: text }, null, 'x', { b64_json: null, url: 7 }, []]);
  expect(images).toHaveLength(1);
});

test.for([
  '',
  '=',
  '====',
  '<not base64>',
  'abc',
  'abcde',
  'ab=c',
  'a===',
  'ab c',
  'abcd\n',
  'abc-',
  'ab_d',
  'abcdé',
  'abcd====',
  'data:image/png;base64,',
  'data:text/html;base64,abcd',
  `${text.slice(0, 8)}%${text.slice(9)}`,
])('IMG-7 base64 that is %j is upstream_error', async (content) => {
  const { images } = await playData([{ b64_json: content }, { b64_json: text }]);
  expect(await errorOf(images[0]?.read() ?? Promise.resolve())).toMatchObject({ code: 'upstream_error' });
  expect(await images[1]?.read()).toEqual(drawn[0]);
});

test('IMG-7 an image that has only a URL is upstream_error', async () => {
  const { images } = await playData([{ url: 'http://169.254.169.254/' }]);
  expect(await errorOf(images[0]?.read() ?? Promise.resolve())).toMatchObject({ code: 'upstream_error' });
});

test.for([
  '',
  '<html>',
  '[]',
  'null',
  '{}',
  '{"data":{}}',
  '{"data":[]}',
  '{"data":null}',
  '{"data":[{}]}',
  '{"data":"abcd"}',
  JSON.stringify(imagesResponse).slice(0, -1),
])('ERR-9 200 with %s is upstream_error', async (body) => {
  expect(await errorOf(play(body))).toMatchObject({ code: 'upstream_error' });
});

const MIB = 1024 * 1024;

async function* answerOf(megabytes: number): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(MIB, 'A');
  yield Buffer.from('{"data":[{"b64_json":"');
  for (let sent = 0; sent < megabytes; sent += 1) yield piece;
  yield Buffer.from('"}]}');
}

test('IMG-1 an image response can exceed the limit of a text response, but not its own limit', async () => {
  const [image] = await readAll(await play(answerOf(72)));
  expect(image?.length).toBe(54 * MIB);
  let sent = 0;
  const endless = async function* () {
    for await (const piece of answerOf(1_000)) {
      sent += piece.length;
      yield piece;
    }
  };
  expect(await errorOf(play(endless()))).toMatchObject({ code: 'upstream_error' });
  expect(sent).toBeLessThan(194 * MIB);
});

const counted = { input: 10, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

test('BILL-11 the published usage is read', async () => {
  expect((await play(imagesResponse)).usage).toEqual({
    ...counted,
    imageInput: 40,
    cachedImageInput: 0,
    imageOutput: 50,
  });
});

test.for([
  [
    'text and image output',
    { output_tokens_details: { text_tokens: 20, image_tokens: 30 } },
    { output: 20, imageOutput: 30 },
  ],
  ['only text output', { output_tokens_details: { text_tokens: 20 } }, { output: 20, imageOutput: 30 }],
  ['more image output than output', { output_tokens_details: { image_tokens: 70 } }, { output: 0, imageOutput: 50 }],
  ['empty output details', { output_tokens_details: {} }, { output: 0, imageOutput: 50 }],
  ['no input details', { input_tokens_details: undefined }, { input: 50, imageInput: 0 }],
  ['null for the details', { input_tokens_details: null, output_tokens_details: null }, { input: 50, imageOutput: 50 }],
  ['only text input', { input_tokens_details: { text_tokens: 10 } }, { input: 10, imageInput: 40 }],
  ['more image input than input', { input_tokens_details: { image_tokens: 90 } }, { input: 0, imageInput: 50 }],
  [
    'details with a remainder',
    { input_tokens_details: { text_tokens: 1, image_tokens: 4 } },
    { input: 46, imageInput: 4 },
  ],
  [
    'cached tokens of text',
    { input_tokens_details: { text_tokens: 10, image_tokens: 40, cached_tokens: 6 } },
    { input: 4, cacheRead: 6, imageInput: 40, cachedImageInput: 0 },
  ],
  [
    'cached tokens of both',
    { input_tokens_details: { text_tokens: 10, image_tokens: 40, cached_tokens: 45 } },
    { input: 0, cacheRead: 10, imageInput: 5, cachedImageInput: 35 },
  ],
  [
    'cached tokens in both kinds',
    {
      input_tokens_details: {
        text_tokens: 10,
        image_tokens: 40,
        cached_tokens: 33,
        cached_tokens_details: { text_tokens: 3, image_tokens: 30 },
      },
    },
    { input: 7, cacheRead: 3, imageInput: 10, cachedImageInput: 30 },
  ],
  [
    'more cached tokens than tokens',
    { input_tokens_details: { text_tokens: 10, image_tokens: 40, cached_tokens: 900 } },
    { input: 0, cacheRead: 10, imageInput: 0, cachedImageInput: 40 },
  ],
  ['no input tokens', { input_tokens: undefined, input_tokens_details: undefined }, { input: 0, imageOutput: 50 }],
  ['impossibly many', { output_tokens: 1e300 }, { imageOutput: Number.MAX_SAFE_INTEGER }],
] as const)('BILL-11 a usage with %s', async ([, changes, expected]) => {
  const { usage } = await play({ ...imagesResponse, usage: { ...imagesResponse.usage, ...changes } });
  expect(usage).toMatchObject(expected);
});

test.for([undefined, null, {}, [], 'x', { input_tokens: '8', output_tokens: -1 }, { total_tokens: 8 }])(
  'BILL-10 a usage of %j is not a usage',
  async (usage) => {
    expect((await play({ ...imagesResponse, usage })).usage).toBeUndefined();
  },
);

test('ERR-9 a signal aborted while the provider generates ends the call with its reason', async () => {
  const vendor = await startVendor(() => undefined);
  try {
    const late = new AbortController();
    const drawing = wireOver(createUpstreamHttp(), vendor.url).draw(imageCall({ signal: late.signal }));
    await vendor.received(1);
    const reason = new Error('the time is over');
    late.abort(reason);
    await expect(drawing).rejects.toBe(reason);
  } finally {
    await vendor.stop();
  }
});
