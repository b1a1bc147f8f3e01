import { expect, test } from 'vitest';
import { readError, receiptPath } from '../../../../local/page/ui/reading.ts';

test('ERR-1 an error response is read as its code and message', async () => {
  const error = { code: 'rate_limited', message: 'Wait.', type: 'x', param: null };
  expect(await readError(Response.json({ error }, { status: 429 }))).toEqual({
    code: 'rate_limited',
    message: 'Wait.',
  });
});

test.each(['<h1>Bad gateway</h1>', '{}', 'null', ''])(
  'an error response with the body %j shows its status and text',
  async (text) => {
    expect(await readError(new Response(text, { status: 502 }))).toEqual({ code: 'status 502', message: text });
  },
);

test('a receipt has the path of its request id', () => {
  expect(receiptPath('a/b')).toBe('/api/usage/a%2Fb');
});
