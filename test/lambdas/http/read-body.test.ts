import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { type BodySource, withUnreadBody } from '../../../lambdas/http/body-source.ts';
import { json } from '../../../lambdas/http/exchange.ts';
import { BODY_BYTES_MAX, BODY_PARTS_MAX } from '../../../lambdas/limits.ts';
import { createChain } from './chain.ts';
import { functionUrlEvent, invoke } from './function-url.ts';

/** Chat request whose body is still arriving. */
const sent = async (declaredBytes: number | undefined, result: Awaited<ReturnType<BodySource['read']>>) => {
  const chain = await createChain();
  const limits: number[] = [];
  const source: BodySource = {
    declaredBytes,
    read: async (bytesMax) => {
      limits.push(bytesMax);
      return result;
    },
  };
  const headers = { authorization: `Bearer ${chain.apiKey}` };
  const event = withUnreadBody(functionUrlEvent({ method: 'POST', path: '/v1/chat/completions', headers }), source);
  const answer = await invoke(chain.handler, event);
  return { status: answer.status, code: JSON.parse(answer.text).error?.code, limits };
};

test('GEN-1 a body that is declared too long is rejected unread', async () => {
  expect(await sent(BODY_BYTES_MAX + 1, 'too-long')).toEqual({ status: 413, code: 'payload_too_large', limits: [] });
});

test('GEN-1 a body with a wrong or missing length is counted while it is read', async () => {
  for (const declared of [undefined, 2, BODY_BYTES_MAX]) {
    expect(await sent(declared, 'too-long')).toEqual({
      status: 413,
      code: 'payload_too_large',
      limits: [BODY_BYTES_MAX],
    });
  }
});

test('GEN-2 an incomplete body is 400', async () => {
  expect(await sent(100, 'incomplete')).toMatchObject({ status: 400, code: 'invalid_request_error' });
});

test('GEN-1 a body that is still arriving is read like any other', async () => {
  expect(await sent(2, Buffer.from('{}'))).toMatchObject({ status: 200, limits: [BODY_BYTES_MAX] });
});

test('OPS-3 the time that a body takes to arrive is part of the request log', async () => {
  const chain = await createChain();
  const source: BodySource = {
    declaredBytes: 2,
    read: async () => {
      await chain.clock.advance(1_500);
      return Buffer.from('{}');
    },
  };
  const headers = { authorization: `Bearer ${chain.apiKey}` };
  const event = withUnreadBody(functionUrlEvent({ method: 'POST', path: '/v1/chat/completions', headers }), source);
  await invoke(chain.handler, event);
  expect(chain.finished).toMatchObject([{ summary: { uploadMs: 1_500, totalMs: 1_500 } }]);
});

/** A body with this many parts, of which most are objects in a list. */
const withObjects = (parts: number): Buffer =>
  Buffer.from(`{"a":[${Array.from({ length: parts - 3 }, () => '{}').join()}]}`);

test('GEN-2 a body of too many parts is 400', async () => {
  expect(await sent(undefined, withObjects(BODY_PARTS_MAX + 1))).toMatchObject({ status: 400 });
});

const compressed = (text: string, apiKey: string, more: object = {}) =>
  functionUrlEvent({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${apiKey}`, 'content-encoding': 'gzip' },
    body: gzipSync(text),
    base64: true,
    ...more,
  });

test('GEN-12, GEN-14 a compressed body is read decoded and counts with its decoded bytes', async () => {
  const chain = await createChain();
  const text = JSON.stringify({ a: 'x'.repeat(500_000) });
  expect((await invoke(chain.handler, compressed(text, chain.apiKey))).status).toBe(200);
  expect(chain.handled).toMatchObject([{ body: { bytes: text.length } }]);
});

test('GEN-12 a compressed body that the front door converted to text is 415', async () => {
  const chain = await createChain();
  const event = compressed('{}', chain.apiKey, { body: gzipSync('{}').toString(), base64: false });
  const answer = await invoke(chain.handler, event);
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([415, 'unsupported_media_type']);
});

test('GEN-14 a compressed body reserves 20 MiB, and its decoded bytes remain until the response', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const chain = await createChain({
    bodyBytes: 4 * 21 * 1024 * 1024,
    handle: async () => {
      await released;
      return json(200, {});
    },
  });
  const other = chain.bodies.enter(['account#account-1'], 2 * 1024 * 1024);
  await other.reserve();
  const text = JSON.stringify({ a: 'x'.repeat(15 * 1024 * 1024) });
  const waiting = invoke(chain.handler, compressed(text, chain.apiKey));
  await new Promise(setImmediate);
  await chain.clock.advance(9_999);
  expect(chain.handled).toEqual([]);
  other.end();
  await expect.poll(() => chain.handled.length).toBe(1);
  const small = chain.bodies.enter(['account#account-1'], 5 * 1024 * 1024);
  expect(small.reserve()).toBeUndefined();
  const large = chain.bodies.enter(['account#account-1'], 5 * 1024 * 1024);
  expect(large.reserve()).toBeInstanceOf(Promise);
  release();
  expect((await waiting).status).toBe(200);
});

test('GEN-14 a body of many parts waits while another one uses the memory', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const chain = await createChain({
    bodyBytes: 10_000_000,
    handle: async ({ route }) => {
      await released;
      return json(200, { route: route?.name });
    },
  });
  const headers = { authorization: `Bearer ${chain.apiKey}` };
  const send = (parts: number) => {
    const body = withObjects(parts).toString();
    return invoke(chain.handler, functionUrlEvent({ method: 'POST', path: '/v1/chat/completions', headers, body }));
  };
  const first = send(90_000);
  const second = send(80_000);
  const small = send(100);
  await vi.waitFor(() => expect([chain.handled.length, chain.clock.waiting]).toEqual([2, 1]), { timeout: 30_000 });
  await chain.clock.advance(10_000);
  expect(await second).toMatchObject({ status: 503 });
  release();
  expect([(await first).status, (await small).status]).toEqual([200, 200]);
  expect(await send(80_000)).toMatchObject({ status: 200 });
});
