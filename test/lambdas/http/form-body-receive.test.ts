import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { FREE_BYTES } from '../../../lambdas/http/body-budget.ts';
import { type Exchange, json } from '../../../lambdas/http/exchange.ts';
import { createChain } from './chain.ts';
import { formOf, handmade, named, partOf, type SentForm } from './forms.ts';
import { type Answer, functionUrlEvent, invoke } from './function-url.ts';

const VIDEOS = '/v1/videos';

const codeOf = ({ status, text }: Answer): string => `${status} ${JSON.parse(text).error?.code}`;
const paramOf = ({ text }: Answer): unknown => JSON.parse(text).error?.param;

const opened = async (options: Parameters<typeof createChain>[0] = {}) => {
  const chain = await createChain(options);
  const eventOf = (contentType: string, path: string, more: Readonly<Record<string, string>> = {}) => {
    const headers = { authorization: `Bearer ${chain.apiKey}`, 'content-type': contentType, ...more };
    return { method: 'POST', path, headers };
  };
  /** A function URL encodes a form in base64. */
  const post = ({ bytes, contentType }: SentForm, path = VIDEOS, more?: Readonly<Record<string, string>>) =>
    invoke(chain.handler, functionUrlEvent({ ...eventOf(contentType, path, more), body: bytes, base64: true }));
  return { ...chain, eventOf, post };
};

test('VID-2 a route for forms gets the form instead of JSON, and the response releases the form', async () => {
  const kept: Exchange[] = [];
  const { post, handled } = await opened({
    handle: async (exchange) => {
      kept.push(exchange);
      return json(200, {});
    },
  });
  const answer = await post(await formOf(['model', 'm'], ['file', new File(['x'], 'a.png')]));
  expect(answer.status).toBe(200);
  expect(kept.map(({ form }) => form)).toEqual([undefined]);
  expect(handled).toMatchObject([
    {
      body: undefined,
      form: { fields: [{ name: 'model', value: 'm' }], files: [{ field: 'file', fileName: 'a.png' }] },
    },
  ]);
});

test.for(['application/json', 'text/plain', ''])(
  'VID-1 a route for forms also accepts JSON with the content type "%s"',
  async (contentType) => {
    const { post, handled } = await opened();
    expect((await post({ bytes: Buffer.from('{"a":1}'), contentType })).status).toBe(200);
    expect(handled).toMatchObject([{ body: { json: { a: 1 }, bytes: 7 } }]);
    expect(handled[0]?.form).toBeUndefined();
  },
);

test('GEN-12 a form on a JSON route is 400, and so is any other multipart type', async () => {
  const { post, handled } = await opened();
  const form = handmade(partOf(named('a'), '1'));
  const mixed = { ...form, contentType: 'multipart/mixed; boundary=the-boundary' };
  for (const [sent, path] of [
    [form, '/v1/chat/completions'],
    [mixed, '/v1/chat/completions'],
    [mixed, VIDEOS],
  ] as const) {
    const answer = await post(sent, path);
    expect([codeOf(answer), paramOf(answer)]).toEqual(['400 invalid_request_error', 'content-type']);
  }
  expect(handled).toEqual([]);
});

test('GEN-8 the encoding of a form is checked before its content', async () => {
  const { post } = await opened();
  const broken = { bytes: Buffer.from('x'), contentType: 'multipart/form-data' };
  expect(codeOf(await post(broken, VIDEOS, { 'content-encoding': 'deflate' }))).toBe('415 unsupported_media_type');
  expect(codeOf(await post(broken))).toBe('400 invalid_request_error');
});

test('GEN-12 a compressed form is decoded before it is read', async () => {
  const { post, handled } = await opened();
  const form = handmade(partOf(named('a'), '1'));
  const answer = await post({ ...form, bytes: gzipSync(form.bytes) }, VIDEOS, { 'content-encoding': 'gzip' });
  expect(answer.status).toBe(200);
  expect(handled).toMatchObject([{ form: { fields: [{ name: 'a', value: '1' }] } }]);
});

test('GEN-14 a form releases its bytes with its response', async () => {
  const { post, bodies } = await opened({ bodyBytes: 20 });
  const large = handmade(partOf(named('a'), 'x'.repeat(FREE_BYTES + 50)));
  await post(large);
  await post({ ...large, bytes: large.bytes.subarray(0, -20) });
  await bodies.enter(['one']).reserve();
  const second = bodies.enter(['two']);
  await second.grow(FREE_BYTES + 19);
});

test('VID-8 DELETE reads no body', async () => {
  const { handler, apiKey, handled } = await opened();
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'multipart/form-data' };
  const sent = { method: 'DELETE', path: '/v1/videos/video_1', headers, body: '{' };
  expect((await invoke(handler, functionUrlEvent(sent))).status).toBe(200);
  expect(handled).toMatchObject([{ route: { name: 'deleteVideo', params: { id: 'video_1' } }, body: undefined }]);
});
