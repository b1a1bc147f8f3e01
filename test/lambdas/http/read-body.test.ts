import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { type BodySource, withUnreadBody } from '../../../lambdas/http/body-source.ts';
import { json } from '../../../lambdas/http/exchange.ts';
import { addedByParsing, parseJsonBody } from '../../../lambdas/http/read-body.ts';
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

test.for([
  ['{"a":1,\n "b": secret}', 'The body is not valid JSON at line 2, column 7. '],
  [`{"a":1${'\n'.repeat(20_000)}secret}`, 'The body is not valid JSON at character 20007. '],
  ['{"a": "secret"', 'The body ends before its JSON is complete. '],
  ['{"a": "secret', 'The body ends before its JSON is complete. '],
  ['secret', 'The body is not valid JSON at line 1, column 1. '],
] as const)('GEN-2 the message for %j has the place and no part of the body', ([text, message]) => {
  let thrown: unknown;
  try {
    parseJsonBody(Buffer.from(text));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ status: 400, message: expect.stringContaining(message) });
  expect(inspect(thrown)).not.toContain('secret');
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

/** A body with this many parts, of which most are in the given list. */
const withParts = (parts: number, item: string, partsOfItem: number): Buffer =>
  Buffer.from(`{"a":[${Array.from({ length: (parts - 3) / partsOfItem }, () => item).join()}]}`);

test.each([
  ['objects', '{}', 1],
  ['arrays', '[]', 1],
  ['members', '{"b":{}}', 3],
] as const)('GEN-2 a body with one part too many is 400, and its text is not counted: %s', (_, item, partsOfItem) => {
  const limit = BODY_PARTS_MAX - ((BODY_PARTS_MAX - 3) % partsOfItem);
  const longest = withParts(limit, item, partsOfItem);
  const items = (limit - 3) / partsOfItem - 1;
  expect(addedByParsing(longest)).toBe(64 * limit + 24 * items - longest.length);
  expect(() => addedByParsing(withParts(limit + partsOfItem, item, partsOfItem))).toThrow(
    'The body has more than 1000000 objects, arrays and member names. Send fewer.',
  );
  const text = JSON.stringify({ a: `\\"${item.repeat(BODY_PARTS_MAX)}` });
  expect(addedByParsing(Buffer.from(text))).toBe(0);
});

test('GEN-14 a body counts with 24 bytes for each further item, and up to 262,144 bytes are free', () => {
  const numbers = (items: number): Buffer => Buffer.from(`{"a":[0${',0'.repeat(items)}]}`);
  expect(addedByParsing(numbers(1_000_000))).toBe(3 * 64 + 24_000_000 - 2_000_009);
  expect([addedByParsing(numbers(10_914)), addedByParsing(numbers(10_915))]).toEqual([0, 8]);
});

test('GEN-2 a body of too many parts is 400', async () => {
  expect(await sent(undefined, withParts(BODY_PARTS_MAX + 1, '{}', 1))).toMatchObject({ status: 400 });
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
    const body = withParts(parts, '{}', 1).toString();
    return invoke(chain.handler, functionUrlEvent({ method: 'POST', path: '/v1/chat/completions', headers, body }));
  };
  const first = send(500_000);
  const second = send(200_000);
  const small = send(100);
  await chain.clock.flush();
  expect(chain.handled).toHaveLength(2);
  await chain.clock.advance(10_000);
  expect(await second).toMatchObject({ status: 503 });
  release();
  expect([(await first).status, (await small).status]).toEqual([200, 200]);
  expect(await send(200_000)).toMatchObject({ status: 200 });
});
