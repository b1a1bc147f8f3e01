import { expect, test } from 'vitest';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { readError, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { bytesOf, fileOf, png, postImages, readImages, receiptOf, sizeOf } from '../support/image-service.ts';
import { rowsOfTier } from '../tiers.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '200' });
const sdk = sdkFor(gateway);

const enabled = loadCatalog(catalogData)
  .list(gateway.now())
  .filter((model) => model.kind === 'image');
const paid = () => vendor.requests.filter(({ method }) => method === 'POST');

/** One model of each family in the quick tier. */
const models = rowsOfTier(enabled, ({ image }) => image.family).map(({ id }) => id);

test.each(models)(
  'CAT-5, IMG-1, IMG-6 %s creates a link and an inline image, charged to the pico-dollar',
  async (model) => {
    const draw = (response_format: string) =>
      spentBy(gateway, () => postImages(gateway, { model, response_format, prompt: 'A boat [[takes 1]]' }));
    for (const [format, { result, spent }] of [
      ['url', await draw('url')],
      ['b64_json', await draw('b64_json')],
    ] as const) {
      const { data } = await readImages(result);
      expect(data.map((image) => format in image)).toEqual([true]);
      expect(sizeOf(await bytesOf(data[0]!))).toBe(data[0]!.size);
      expect(spent).toBeGreaterThan(0n);
      expect(spent).toBe(parseUsd(result.headers.get('x-service-cost-usd') ?? ''));
      expect(await receiptOf(gateway, result.headers.get('x-request-id') ?? '')).toBe(spent);
    }
    expect(paid()).toHaveLength(2);
  },
);

test('IMG-1 the SDK generates images as links and as inline bytes', async () => {
  const linked = await sdk.images.generate({
    model: 'gpt-image-2',
    prompt: 'A boat',
    size: '1024x1024',
    quality: 'low',
    response_format: 'url',
  });
  const [link] = linked.data ?? [];
  const response = await fetch(link?.url ?? '');
  expect([response.status, response.headers.get('content-type'), response.headers.get('content-disposition')]).toEqual([
    200,
    'image/png',
    'inline',
  ]);
  expect(sizeOf(Buffer.from(await response.arrayBuffer()))).toBe('1024x1024');
  const inline = await sdk.images.generate({
    model: 'gpt-image-2',
    prompt: 'A boat',
    n: 2,
  });
  expect(inline.data?.map(({ b64_json: text }) => sizeOf(Buffer.from(text ?? '', 'base64')))).toEqual([
    '1024x1024',
    '1024x1024',
  ]);
  expect(new Set(inline.data?.map(({ b64_json: text }) => text)).size).toBe(2);
});

test('IMG-5 the SDK edits three images in order, with a mask', async () => {
  const pictures = [png(512, 512, 'one'), png(640, 512, 'two'), png(512, 640, 'three')];
  const mask = png(512, 512, 'mask');
  const edited = await sdk.images.edit({
    model: 'gpt-image-2',
    prompt: 'Put image 2 into image 1',
    image: pictures.map((bytes, index) => fileOf(bytes, `${index}.png`)),
    mask: fileOf(mask, 'mask.png'),
    quality: 'low',
    size: '1024x1024',
  });
  expect(edited.data).toHaveLength(1);
  const [sent] = paid();
  if (!sent) throw new Error('no request reached the provider');
  const places = [...pictures, mask].map((bytes) => Buffer.from(sent.bytes).indexOf(bytes));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual([...places].sort((one, other) => one - other));
});

test.each([
  ['gpt-image-2', '1920x1080', '1920x1088'],
  ['gpt-image-2', '800x600', '944x704'],
  ['gpt-image-2-fixed', '3840x2880', '3264x2448'],
])('IMG-9 %s delivers exactly %s, made from %s, at the price of the request', async (model, size, drawn) => {
  const { result, spent } = await spentBy(gateway, () => postImages(gateway, { model, size }));
  const { data } = await readImages(result);
  expect(data[0]).toMatchObject({ size, generated_size: drawn });
  expect(sizeOf(await bytesOf(data[0]!))).toBe(size);
  expect(spent).toBe(parseUsd(result.headers.get('x-service-cost-usd') ?? ''));
  if (model === 'gpt-image-2-fixed') expect(spent).toBe(parseUsd('0.24'));
});

test.each([
  ['gpt-image-2-prompt', 'b64_json'],
  ['flux-2-klein-9b', 'url'],
])('IMG-1 %s returns %s without a response_format', async (model, form) => {
  const { data } = await readImages(await postImages(gateway, { model, prompt: 'A boat [[takes 1]]' }));
  expect(data.map((image) => [form in image, 'url' in image && 'b64_json' in image])).toEqual([[true, false]]);
});

test('IMG-2 Flux creates an image whose edges are limited by its area alone', async () => {
  const body = { model: 'flux-2-klein-9b', size: '2560x1440', prompt: 'A boat [[takes 1]]' };
  const { data } = await readImages(await postImages(gateway, body));
  expect(sizeOf(await bytesOf(data[0]!))).toBe('2560x1440');
});

test('IMG-7 if one of four images fails, three are sent and charged', async () => {
  const { result, spent } = await spentBy(gateway, () =>
    postImages(gateway, { model: 'gpt-image-2-fixed', size: '1280x720', n: 4, prompt: 'Boats [[image-fails 1]]' }),
  );
  const { data } = await readImages(result);
  expect(data).toHaveLength(3);
  expect(spent).toBe(parseUsd('0.09'));
});

test('IMG-6 only the complete name leads to an image', async () => {
  const { data } = await readImages(await postImages(gateway, { model: 'gemini-3.1-flash-lite-image' }));
  const link = data[0]?.url ?? '';
  const [, expiry = '', token = ''] = /\/media\/(\d+)-([0-9a-f]{32})$/.exec(link) ?? [];
  expect(Math.abs(Number(expiry) - gateway.now() / 1_000 - 86_400)).toBeLessThan(60);
  const other = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  for (const name of ['', `${expiry}-${other}`, `${Number(expiry) + 1}-${token}`, expiry, token]) {
    expect((await fetch(`${gateway.url}/media/${name}`)).status, name).toBe(404);
  }
  expect((await fetch(link)).status).toBe(200);
});

test('IDEM-2 the same key twice: one image, one charge, the same bytes', async () => {
  const headers = { 'idempotency-key': 'boats-1' };
  const body = { model: 'seedream-4-0', size: '1280x720' };
  const { result, spent } = await spentBy(gateway, async () => {
    const first = await postImages(gateway, body, headers);
    const second = await postImages(gateway, body, headers);
    return [first, second] as const;
  });
  const [first, second] = result;
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(await second.text()).toBe(await first.text());
  expect(spent).toBe(parseUsd('0.03'));
  expect(paid()).toHaveLength(1);
});

test('BILL-16 a dry run returns the hold without a provider call', async () => {
  const body = { model: 'gpt-image-2-fixed', size: '3840x2160', n: 2 };
  const response = await postImages(gateway, body, { 'x-service-dry-run': 'true' });
  expect(await response.json()).toMatchObject({ object: 'dry_run', model: 'gpt-image-2-fixed', hold_usd: '0.48' });
  expect(paid()).toEqual([]);
});

test('IMG-4 reference images reach Flux and Seedream in their order', async () => {
  const inline = `data:image/png;base64,${png(256, 256).toString('base64')}`;
  const flux = await readImages(
    await postImages(gateway, {
      model: 'flux-2-pro',
      prompt: 'A boat [[takes 1]]',
      input_image: inline,
      input_image_2: 'https://example.com/two.png',
      width: 512,
      height: 768,
    }),
  );
  expect(flux.data[0]?.size).toBe('512x768');
  const [sent] = paid();
  expect(sent?.body).toMatchObject({ width: 512, height: 768, input_image_2: 'https://example.com/two.png' });
  vendor.reset();
  const image = ['https://example.com/one.png', 'https://example.com/two.png'];
  await readImages(
    await postImages(gateway, { model: 'seedream-4-0', image, sequential_image_generation: 'disabled' }),
  );
  // Without `sequential_image_generation`, every Seedream model creates one image; the newest model rejects the field.
  expect(paid()[0]?.body).toMatchObject({ image });
  expect(paid()[0]?.body).not.toHaveProperty('sequential_image_generation');
});

/** One model of each family. */
const families = [...Map.groupBy(enabled, ({ image }) => image.family)].map(
  ([family, [first]]) => [family, first?.id ?? ''] as const,
);

test.each([
  ['refused content', '[[image-blocked]]', 400, 'content_filter'],
  ['a page instead of an image', '[[image-html]]', 502, 'upstream_error'],
  ['a provider that fails', '[[status 500]]', 502, 'upstream_error'],
])('IMG-7 %s is an error in every family and costs nothing', async (_what, marker, status, code) => {
  const before = await gateway.account();
  const prompt = `A boat [[takes 1]] ${marker}`;
  const errors = await Promise.all(
    families.map(async ([family, model]) => {
      const response = await postImages(gateway, { model, prompt });
      return [family, response.status, (await readError(response)).code];
    }),
  );
  expect(errors).toEqual(families.map(([family]) => [family, status, code]));
  expect((await gateway.untilSettled()).balance).toBe(before.balance);
});

test('IMG-5 a 100-megapixel bomb is rejected as a file and as a data URI, before a hold', async () => {
  const bomb = Buffer.from(png(64, 64));
  bomb.writeUInt32BE(10_000, 16);
  bomb.writeUInt32BE(10_000, 20);
  const before = await gateway.account();
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: 'gpt-image-2', prompt: 'A boat', image: fileOf(bomb) }))
    form.append(name, value);
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  const asFile = await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form });
  const inline = `data:image/png;base64,${bomb.toString('base64')}`;
  const asUri = await postImages(gateway, { model: 'flux-2-pro', input_image: inline });
  for (const [response, param] of [
    [asFile, 'image'],
    [asUri, 'input_image'],
  ] as const) {
    const error = { code: 'invalid_image_format', param: expect.stringContaining(param) };
    expect([response.status, await readError(response)]).toMatchObject([400, error]);
  }
  expect(paid()).toEqual([]);
  expect(await gateway.account()).toEqual(before);
});
