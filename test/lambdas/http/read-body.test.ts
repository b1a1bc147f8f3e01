import { expect, test } from 'vitest';
import { type BodySource, withUnreadBody } from '../../../lambdas/http/body-source.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
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
