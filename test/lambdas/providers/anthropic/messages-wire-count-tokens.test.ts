import { expect, test } from 'vitest';
import { createMessageTokenCounter } from '../../../../lambdas/providers/anthropic/messages-wire.ts';
import { messagesCall, optionsFor, type Played } from './messages-call.ts';

const body = { model: 'alpha-1', messages: [{ role: 'user', content: 'Hi' }], system: 'x' };

const count = (played: Played) => {
  const { options, seen } = optionsFor(played);
  const { provider, upstream } = messagesCall();
  const counted = createMessageTokenCounter(options)({
    provider,
    upstream,
    body,
    headers: { 'anthropic-beta': 'a', 'x-api-key': 'theirs' },
    signal: new AbortController().signal,
  });
  return { counted, seen };
};

test("BILL-17 a count is one request with the client's body and the provider's model", async () => {
  const { counted, seen } = count({ body: '{"input_tokens":14}' });
  expect(await counted).toEqual({ input_tokens: 14 });
  expect(seen.requests).toMatchObject([
    {
      url: 'https://api.anthropic.com/v1/messages/count_tokens',
      headers: { 'x-api-key': 'sk-vendor-canary', 'anthropic-beta': 'a' },
    },
  ]);
  expect(JSON.parse(seen.requests[0]?.body ?? '')).toEqual({ ...body, model: 'claude-vendor-20260101' });
  expect(seen.discarded).toBe(1);
});

test.for([
  [{ original_input_tokens: 20 }, { context_management: { original_input_tokens: 20 } }],
  [null, {}],
  [{ original_input_tokens: 'many' }, {}],
] as const)('BILL-17 with context_management of %j, %j is passed on', async ([context_management, rest]) => {
  const { counted } = count({ body: JSON.stringify({ input_tokens: 14, context_management }) });
  expect(await counted).toEqual({ input_tokens: 14, ...rest });
});

test.for(['', '[]', '{}', '{"input_tokens":"14"}', '{"input_tokens":-1}', '{"input_tokens":1.5}'])(
  'ERR-9 a count of %s is upstream_error',
  async (odd) => {
    await expect(count({ body: odd }).counted).rejects.toMatchObject({ code: 'upstream_error' });
  },
);

test.for([
  [400, 'invalid_request_error', 'tools.0.custom.name: bad', { code: 'invalid_request_error', param: 'tools[0]' }],
  [401, 'authentication_error', 'no', { code: 'service_unavailable' }],
  [404, 'not_found_error', 'no', { code: 'model_unavailable' }],
  [529, 'overloaded_error', 'no', { code: 'upstream_capacity' }],
] as const)('ERR-9 a count is rejected with %i %s', async ([status, type, message, expected]) => {
  const refusal = JSON.stringify({ type: 'error', error: { type, message } });
  await expect(count({ status, body: refusal }).counted).rejects.toMatchObject(expected);
});
