import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import { webhookSecretOf } from '../../../../lambdas/core/signature.ts';
import { parseFormBody } from '../../../../lambdas/http/form-body.ts';
import { toVideoParams } from '../../../../lambdas/protocols/videos/request.ts';
import { byTokens, videoModel } from '../../core/videos/video-samples.ts';
import { formOf, handmade, named, partOf, type SentForm } from '../../http/forms.ts';
import { fileOf, png } from './images.ts';

const model = videoModel(byTokens());
const noReference = videoModel(
  byTokens({
    video: {
      seconds: ['8'],
      sizes: ['1920x1080'],
      tokens: { framesPerSecond: 24, divisor: 1024 },
      inputReference: false,
    },
  }),
);
const event = { headers: { authorization: 'Bearer the-key' } };

const checked: string[] = [];
const checkUrl = (url: string): string | undefined => {
  checked.push(url);
  return url.startsWith('http') ? undefined : 'must be an http(s) URL.';
};

const basic = { model: 'film-1', prompt: 'a cat' };

const orderOf = (changes: object) => {
  const json = parseJson(JSON.stringify({ ...basic, ...changes }));
  if (!isJsonObject(json)) throw new Error('no object');
  return toVideoParams({ body: { json, bytes: 0 }, event }, checkUrl);
};

const orderOfForm = ({ bytes, contentType }: SentForm) =>
  toVideoParams({ body: undefined, form: parseFormBody(bytes, contentType), event }, checkUrl);

const refusalOf = (work: () => unknown): GatewayError => {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('not rejected');
};

const texts = (...more: readonly (readonly [string, string | File])[]) =>
  formOf(['model', 'film-1'], ['prompt', 'a cat'], ...more);

test('VID-1 model and prompt are enough: 4 seconds of 1280x720', () => {
  const { modelId, webhook, validateFor } = orderOf({});
  expect([modelId, webhook]).toEqual(['film-1', undefined]);
  expect(validateFor(model)).toEqual({ prompt: 'a cat', seconds: 4, width: 1280, height: 720, reference: undefined });
});

test('VID-1 a form without a file is the same request as JSON', async () => {
  const changes = { seconds: '12', size: '1920x1080', webhook_url: 'https://a.example/hook' };
  const fromJson = orderOf(changes);
  const fromForm = orderOfForm(await texts(...Object.entries(changes)));
  expect(fromForm.validateFor(model)).toEqual({
    prompt: 'a cat',
    seconds: 12,
    width: 1920,
    height: 1080,
    reference: undefined,
  });
  expect(fromForm.validateFor(model)).toEqual(fromJson.validateFor(model));
  expect([fromForm.modelId, fromForm.webhook]).toEqual([fromJson.modelId, fromJson.webhook]);
});

test('VID-1 null counts as absent, and a default is checked like a sent value', () => {
  const order = orderOf({ seconds: null, size: null, webhook_url: null, input_reference: null });
  expect(order.validateFor(model)).toMatchObject({ seconds: 4, width: 1280, height: 720 });
  expect(refusalOf(() => order.validateFor(noReference)).message).toBe('seconds: must be one of "8" with "film-1".');
});

test('VID-2 empty fields and an empty file input of a form count as absent', async () => {
  const names = ['seconds', 'size', 'webhook_url', 'input_reference'];
  const empty = names.map((name) => [name, ''] as const);
  const order = orderOfForm(await texts(...empty, ['input_reference', new File([], '')]));
  expect(order.webhook).toBeUndefined();
  expect(order.validateFor(model)).toEqual(orderOf({}).validateFor(model));
});

const long = 'x'.repeat(32_001);

test.for([
  [{ model: undefined }, 'model', 'must be the id of a model'],
  [{ model: 5 }, 'model', 'must be the id of a model'],
  [{ prompt: undefined }, 'prompt', 'must be a string that describes the video'],
  [{ prompt: ['a'] }, 'prompt', 'must be a string that describes the video'],
  [{ prompt: long }, 'prompt', 'must have at most 32000 characters'],
  [{ prompt: '🐈'.repeat(32_001) }, 'prompt', 'must have at most 32000 characters'],
  [{ prompt: 'a\ud800b' }, 'prompt', 'Send well-formed Unicode'],
  [{ seconds: 8 }, 'seconds', 'must be a string such as "4"'],
  [{ size: 1280 }, 'size', 'must be a string such as "1280x720"'],
  [{ webhook_url: 5 }, 'webhook_url', 'must be a string with an http(s) URL'],
  [{ webhook_url: 'ftp://a.example' }, 'webhook_url', 'must be an http(s) URL.'],
  [{ input_reference: 'data:image/png;base64,AA' }, 'input_reference', 'send the image as a file of a multipart form'],
  [{ input_reference: { image_url: 'https://a.example' } }, 'input_reference', 'as a file of a multipart form'],
  [{ n: 2 }, 'n', 'this field is not supported here. Remove it.'],
] as const)('VID-1 %j is 400 naming the field and the fix', ([changes, param, fix]) => {
  const { status, code, param: found, message } = refusalOf(() => orderOf(changes));
  expect([status, code, found]).toEqual([400, 'invalid_request_error', param]);
  expect(message.startsWith(`${param}: `)).toBe(true);
  expect(message).toContain(fix);
});

test('VID-1 a prompt of 32,000 characters is accepted, however many bytes they have', () => {
  for (const prompt of ['x'.repeat(32_000), '🐈'.repeat(32_000)]) {
    expect(orderOf({ prompt }).validateFor(model).prompt).toBe(prompt);
  }
});

test.for([
  ['seconds', '5', 'invalid_request_error', 'seconds: must be one of "4", "8", "12" with "film-1".'],
  ['size', '720x1280', 'invalid_size', 'size: must be one of 1280x720, 1920x1080 with "film-1".'],
] as const)('VID-1 %s "%s" is not in the entry: 400 %s', async ([param, value, code, message]) => {
  for (const order of [orderOf({ [param]: value }), orderOfForm(await texts([param, value]))]) {
    expect(refusalOf(() => order.validateFor(model))).toMatchObject({ status: 400, code, param, message });
  }
});

const image = fileOf(png(1280, 720));

test.for([
  [[['prompt', 'again']], 'prompt', 'sent twice. Send it once.'],
  [[['n', '2']], 'n', 'this field is not supported here. Remove it.'],
  [[['__proto__', '2']], '__proto__', 'this field is not supported here. Remove it.'],
  [[['seconds', new File(['4'], 's')]], 'seconds', 'must be text, not a file. Send it as text.'],
  [[['image', image]], 'image', 'unknown file field. Send the file as "input_reference".'],
  [[['__proto__', image]], '__proto__', 'unknown file field. Send the file as "input_reference".'],
  [[['input_reference', 'https://a.example']], 'input_reference', 'as one file with the name input_reference.'],
  [
    [['input_reference[image_url]', 'https://a.example']],
    'input_reference[image_url]',
    'as one file with the name input_reference.',
  ],
  [
    [
      ['input_reference', image],
      ['input_reference', image],
    ],
    'input_reference',
    'sent twice.',
  ],
  [[['webhook_url', 'a']], 'webhook_url', 'must be an http(s) URL.'],
] as const)('VID-2 a form with %j is 400 naming it', async ([more, param, fix]) => {
  const sent = await texts(...more);
  const { code, param: found, message } = refusalOf(() => orderOfForm(sent));
  expect([code, found]).toEqual(['invalid_request_error', param]);
  expect(message.startsWith(`${param}: `)).toBe(true);
  expect(message).toContain(fix);
});

test('VID-2 a form without model or prompt is 400, and a long name is truncated', async () => {
  expect(refusalOf(() => orderOfForm(handmade()))).toMatchObject({ code: 'invalid_request_error', param: 'model' });
  expect(refusalOf(() => orderOfForm(handmade(partOf(named('model'), 'film-1')))).param).toBe('prompt');
  const withLongName = await texts(['x'.repeat(5_000), '1']);
  const { message, param } = refusalOf(() => orderOfForm(withLongName));
  expect([message.length < 200, param?.length]).toEqual([true, 101]);
});

test('VID-7 deliveries are signed with a secret derived from the API key of the request', () => {
  const url = 'https://a.example/hook';
  checked.length = 0;
  expect(orderOf({ webhook_url: url }).webhook).toEqual({ url, secret: webhookSecretOf('the-key') });
  expect(checked).toEqual([url]);
});

test('VID-7 half of a character in a webhook URL is replaced', () => {
  expect(orderOf({ webhook_url: 'https://a.example/\u{d83d}' }).webhook?.url).toBe('https://a.example/\u{fffd}');
});
