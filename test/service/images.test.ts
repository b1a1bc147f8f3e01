import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readError, sdkFor, spentBy } from '../support/gateway-chat.ts';
import {
  bytesOf,
  fileOf,
  type ImagesAnswer,
  png,
  postImages,
  readImages,
  receiptOf,
  sizeOf,
} from '../support/image-service.ts';

let vendor: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({
    vendorUrl: vendor.url,
    environment: { LOCAL_BALANCE_USD: '200', UPSTREAM_DEADLINE_SECONDS: '5' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const enabled = loadCatalog(catalogData)
  .list(Date.now())
  .filter((model) => model.kind === 'image');
/** One model of each family, by the catalog's own list. */
const families = [...Map.groupBy(enabled, ({ image }) => image.family)].map(
  ([family, models]) => [family, models[0]?.id ?? ''] as const,
);
const allModels = enabled.map(({ id }) => id);

const paid = () => vendor.requests.filter(({ method }) => method === 'POST');

test('IMG-1 every family is there', () => {
  expect(families.map(([family]) => family).sort()).toEqual([
    'compact_gen2',
    'compact_gen2_pro',
    'fixed_size_single',
    'flux',
    'seedream',
    'three_variant_described',
    'three_variant_fixed',
    'three_variant_free',
    'token_priced',
  ]);
});

test.each(allModels)(
  'CAT-5, IMG-1, IMG-6 %s draws behind a link and inline, and each is charged to the pico',
  async (model) => {
    for (const format of ['url', 'b64_json'] as const) {
      const { result, spent } = await spentBy(gateway, () => postImages(gateway, { model, response_format: format }));
      const cost = result.headers.get('x-service-cost-usd') ?? '';
      const requestId = result.headers.get('x-request-id') ?? '';
      const { data } = await readImages(result);
      const [image, ...others] = data;
      expect(others).toEqual([]);
      if (!image) throw new Error('no image');
      expect(Object.keys(image)).toContain(format);
      expect(sizeOf(await bytesOf(image))).toBe(image.size);
      expect(spent).toBeGreaterThan(0n);
      expect(spent).toBe(parseUsd(cost));
      expect(await receiptOf(gateway, requestId)).toBe(spent);
    }
    expect(paid()).toHaveLength(2);
  },
);

test('IMG-1 the SDK generates: links, and bytes inline', async () => {
  const sdk = sdkFor(gateway);
  const linked = await sdk.images.generate({
    model: 'gpt-image-2',
    prompt: 'A boat',
    size: '1024x1024',
    quality: 'low',
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
    response_format: 'b64_json',
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
  const edited = await sdkFor(gateway).images.edit({
    model: 'gpt-image-2',
    prompt: 'Put image 2 into image 1',
    image: pictures.map((bytes, index) => fileOf(bytes, `${index}.png`)),
    mask: fileOf(mask, 'mask.png'),
    quality: 'low',
    size: '1024x1024',
  });
  expect(edited.data).toHaveLength(1);
  const [sent] = paid();
  if (!sent) throw new Error('the vendor was not asked');
  const places = [...pictures, mask].map((bytes) => Buffer.from(sent.bytes).indexOf(bytes));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual([...places].sort((one, other) => one - other));
});

test('IMG-5 a form with a quoted boundary is read, as .NET writes it', async () => {
  const boundary = '----=_Part_0f9b "x"'.replaceAll('"', '_');
  const part = (head: string, content: Uint8Array | string) =>
    Buffer.concat([Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')]);
  const body = Buffer.concat([
    part(
      'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=model',
      'gemini-nano-banana-2.1',
    ),
    part('Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=prompt', 'Make it blue'),
    part(
      "Content-Type: image/png\r\nContent-Disposition: form-data; name=image; filename=one.png; filename*=utf-8''one.png",
      png(),
    ),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  const response = await fetch(`${gateway.url}/v1/images/edits`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.apiKey}`,
      'content-type': `multipart/form-data; boundary="${boundary}"`,
    },
    body,
  });
  expect((await readImages(response)).data).toHaveLength(1);
});

test.each(['3840x2560', '2560x3840', '3840x2880', '2880x3840', '3840x3072', '3072x3840'])(
  'IMG-9 %s is drawn at the largest size of its ratio that the vendor has, and the answer says so',
  async (size) => {
    const { data } = await readImages(await postImages(gateway, { model: 'gpt-image-2-fixed', size }));
    const [width = 0, height = 0] = (data[0]?.size ?? '').split('x').map(Number);
    const [askedWidth = 0, askedHeight = 0] = size.split('x').map(Number);
    expect(width * height).toBeLessThanOrEqual(8_294_400);
    expect([width % 16, height % 16]).toEqual([0, 0]);
    expect(Math.abs(width / height - askedWidth / askedHeight)).toBeLessThan(0.01);
  },
);

test('IMG-7 of four images with one that failed three are sent, and three are charged', async () => {
  const { result, spent } = await spentBy(gateway, () =>
    postImages(gateway, { model: 'gpt-image-2-fixed', size: '1280x720', n: 4, prompt: 'Boats [[image-fails 1]]' }),
  );
  const { data } = await readImages(result);
  expect(data).toHaveLength(3);
  expect(spent).toBe(parseUsd('0.09'));
});

test('IMG-6 nothing but the whole name leads to an image', async () => {
  const { data } = await readImages(await postImages(gateway, { model: 'gemini-3.1-flash-lite-image' }));
  const link = data[0]?.url ?? '';
  const [, expiry = '', token = ''] = /\/media\/(\d+)-([0-9a-f]{32})$/.exec(link) ?? [];
  expect(Math.abs(Number(expiry) - Date.now() / 1_000 - 86_400)).toBeLessThan(60);
  const other = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  for (const name of ['', `${expiry}-${other}`, `${Number(expiry) + 1}-${token}`, expiry, token]) {
    expect((await fetch(`${gateway.url}/media/${name}`)).status, name).toBe(404);
  }
  expect((await fetch(link)).status).toBe(200);
});

test('IDEM-2 the same key twice: one drawing, one charge, the same bytes', async () => {
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

test('IDEM-5 an edit takes no key, since it is a form', async () => {
  const form = new FormData();
  form.append('model', 'gpt-image-2');
  form.append('prompt', 'A boat');
  form.append('image', fileOf(png()));
  const headers = { authorization: `Bearer ${gateway.apiKey}`, 'idempotency-key': 'edit-1' };
  const response = await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form });
  expect([response.status, (await readError(response)).code]).toEqual([400, 'idempotency_not_supported']);
});

test('BILL-16 what it would cost is told without a call, and is what is held for it', async () => {
  const body = { model: 'gpt-image-2-fixed', size: '3840x2160', n: 2 };
  const response = await postImages(gateway, body, { 'x-service-dry-run': 'true' });
  expect(await response.json()).toMatchObject({ object: 'dry_run', model: 'gpt-image-2-fixed', hold_usd: '0.48' });
  expect(paid()).toEqual([]);
});

test('IMG-4 references reach Flux and Seedream in their order', async () => {
  const inline = `data:image/png;base64,${png(256, 256).toString('base64')}`;
  const flux: ImagesAnswer = await readImages(
    await postImages(gateway, {
      model: 'flux-2-pro',
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
  // Without the field every one of its models draws one image, and the newest refuses it.
  expect(paid()[0]?.body).toMatchObject({ image });
  expect(paid()[0]?.body).not.toHaveProperty('sequential_image_generation');
});
