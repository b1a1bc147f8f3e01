import { expect, test } from 'vitest';
import { toChatBody } from '../../../../lambdas/providers/openai/chat-wire.ts';
import { chatBody, wireCall } from './wire-call.ts';

const everything = {
  ...chatBody,
  temperature: 0.5,
  stop: ['a', 'b'],
  tools: [{ type: 'function', function: { name: 'f' } }],
  logit_bias: { '50256': -100 },
  user: 'someone',
  vendor_extra: { deep: [1, null] },
};

test.for([
  [{}, 'max_completion_tokens'],
  [{ outputCapField: 'max_tokens' }, 'max_tokens'],
  [{ kind: 'openai-compatible' }, 'max_tokens'],
  [{ kind: 'openai-compatible', outputCapField: 'max_completion_tokens' }, 'max_completion_tokens'],
] as const)('BILL-6 the cap is sent in the provider’s field: %j -> %s', ([provider, field]) => {
  const body = { ...chatBody, max_tokens: 10, max_completion_tokens: 10 };
  const { model, messages, ...rest } = toChatBody(wireCall({ body, provider }), 77);
  expect(rest).toEqual({ [field]: 77, ...('kind' in provider ? {} : { store: false }) });
  expect([model, messages]).toEqual(['vendor-name', chatBody.messages]);
});

test('BILL-6 only `model`, `store` and the output limit change in the client’s body', () => {
  expect(toChatBody(wireCall({ body: everything }), 321)).toEqual({
    ...everything,
    model: 'vendor-name',
    max_completion_tokens: 321,
    store: false,
  });
});

test('CHAT-1 a stream always requests usage', () => {
  for (const stream_options of [undefined, { include_usage: false }, { include_usage: true }]) {
    const body = { ...chatBody, stream: true, ...(stream_options ? { stream_options } : {}) };
    expect(toChatBody(wireCall({ body, stream: true }), 321).stream_options).toMatchObject({ include_usage: true });
  }
});

test('CHAT-1 a request without a stream has no stream options', () => {
  expect(toChatBody(wireCall(), 321)).not.toHaveProperty('stream_options');
});
