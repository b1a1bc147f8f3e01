import { expect, test } from 'vitest';
import { toChatBody } from '../../../../lambdas/providers/openai/chat-wire.ts';
import { wireCall } from '../../providers/openai/wire-call.ts';
import { bodyOf, effortField, hello, png, prepared, tool } from './chat-requests.ts';

const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a": 1.0}' } };

const everything = {
  messages: [
    { role: 'system', content: [{ type: 'text', text: 's' }], name: 'n' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: png, detail: 'high' } }] },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ],
  temperature: 0.2,
  top_p: 0.9,
  n: 2,
  stop: ['x'],
  presence_penalty: 0.5,
  frequency_penalty: -0.5,
  tools: [tool({ strict: false, description: 'd', parameters: { type: 'object', properties: { a: {} } } })],
  tool_choice: { type: 'function', function: { name: 'get_weather' } },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'a', strict: true, schema: { deep: [1, { x: null }] } },
  },
  seed: 5,
  user: 'u',
  reasoning_effort: 'high',
  logit_bias: { '5': -1 },
  logprobs: true,
  top_logprobs: 3,
  parallel_tool_calls: false,
  prompt_cache_key: 'p',
  safety_identifier: 's',
  verbosity: 'high',
  modalities: ['text'],
  service_tier: 'default',
  store: false,
};

test('BILL-6 the provider gets the body with only model and cap changed', () => {
  const { body } = prepared({ ...everything, max_tokens: 50 }, { reasoning: effortField('reasoning_effort') });
  expect(toChatBody(wireCall({ body }), 50)).toEqual({
    ...bodyOf(everything),
    model: 'vendor-name',
    max_completion_tokens: 50,
  });
});

test('BILL-18 cache_control is never sent, and nothing else is removed with it', () => {
  const cached = { cache_control: { type: 'ephemeral' } };
  const { body } = prepared({
    messages: [
      { ...hello, ...cached },
      { role: 'user', content: [{ type: 'text', text: 'cache_control', ...cached }] },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'y', ...cached }] },
    ],
    tools: [{ ...tool({ parameters: { properties: { cache_control: { type: 'string' } } } }), ...cached }],
  });
  expect(body).toEqual(
    bodyOf({
      messages: [
        hello,
        { role: 'user', content: [{ type: 'text', text: 'cache_control' }] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'y' }] },
      ],
      tools: [tool({ parameters: { properties: { cache_control: { type: 'string' } } } })],
    }),
  );
});

test('GEN-9 stream_options reach the provider together with include_usage', () => {
  const stream_options = { include_usage: false, include_obfuscation: false };
  const { body, stream } = prepared({ stream: true, stream_options });
  expect(toChatBody(wireCall({ body, stream }), 321).stream_options).toEqual({
    include_usage: true,
    include_obfuscation: false,
  });
});

test('CHAT-1 stream_options are not sent without a stream', () => {
  const { body, stream } = prepared({ stream_options: { include_usage: true } });
  expect(toChatBody(wireCall({ body, stream }), 321)).not.toHaveProperty('stream_options');
});

test('CHAT-5 a message of an SDK helper can be sent back unchanged', () => {
  const helped = {
    role: 'assistant',
    content: null,
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
    parsed: { a: 1 },
    name: null,
    reasoning_content: null,
    tool_calls: [{ ...call, index: 0, function: { ...call.function, parsed_arguments: { a: 1 } } }],
  };
  const answer = { role: 'tool', tool_call_id: 'call_1', content: 'x', name: null };
  const { body } = prepared({ messages: [{ role: 'user', content: 'Hello' }, helped, answer] });
  expect(body.messages).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'x' },
  ]);
});
