import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readError } from '../support/gateway-chat.ts';
import { fileOf, png, postImages } from '../support/image-service.ts';

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

const paid = () => vendor.requests.filter(({ method }) => method === 'POST');

test.each([
  ['refused content', '[[image-blocked]]', 400, 'content_filter'],
  ['broken base64', '[[image-broken]]', 502, 'upstream_error'],
  ['an image of no bytes', '[[image-empty]]', 502, 'upstream_error'],
  ['a page in place of the image', '[[image-html]]', 502, 'upstream_error'],
  ['none of them made', '[[image-fails]]', 502, 'upstream_error'],
  ['a vendor that does not answer', '[[hang]]', 504, 'upstream_timeout'],
  ['a vendor that fails', '[[status 500]]', 502, 'upstream_error'],
  ['a vendor that is full', '[[status 429]]', 429, 'upstream_capacity'],
  ['a vendor whose connection breaks', '[[reset]]', 502, 'upstream_error'],
  ['a vendor that refuses our key', '[[vendor-401]]', 503, 'service_unavailable'],
])('IMG-7 %s is an error on every family, and costs nothing', async (_what, marker, status, code) => {
  const before = await gateway.account();
  const answers = await Promise.all(
    families.map(async ([family, model]) => {
      const response = await postImages(gateway, { model, prompt: `A boat ${marker}` });
      const error = await readError(response);
      return [family, response.status, error.code];
    }),
  );
  expect(answers).toEqual(families.map(([family]) => [family, status, code]));
  const after = await gateway.untilSettled();
  expect(after.balance).toBe(before.balance);
});

test.each([
  ['no bytes', Buffer.alloc(0)],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"></svg>')],
  ['text', Buffer.from('not an image')],
  ['the head of a PNG alone', png().subarray(0, 20)],
  ['a bomb of 100 megapixels', bomb()],
])('IMG-5 %s is refused as a file and as a data URI, before anything is held', async (_what, bytes) => {
  const before = await gateway.account();
  const form = new FormData();
  form.append('model', 'gpt-image-2');
  form.append('prompt', 'A boat');
  form.append('image', fileOf(bytes));
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  const asFile = await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form });
  const inline = `data:image/png;base64,${bytes.toString('base64')}`;
  const asUri = await postImages(gateway, { model: 'flux-2-pro', input_image: inline });
  for (const [response, param] of [
    [asFile, 'image'],
    [asUri, 'input_image'],
  ] as const) {
    const error = await readError(response);
    expect([response.status, error.code]).toEqual([400, 'invalid_image_format']);
    expect(error.param).toContain(param);
  }
  expect(paid()).toEqual([]);
  expect(await gateway.account()).toEqual(before);
});

function bomb(): Buffer {
  const bytes = Buffer.from(png(64, 64));
  bytes.writeUInt32BE(10_000, 16);
  bytes.writeUInt32BE(10_000, 20);
  return bytes;
}
