import { expect, test } from 'vitest';
import type { Conversation } from '../../../../lambdas/core/text/conversation.ts';
import { effortField, hello, jpeg, png, prepared, showing, tool } from './chat-requests.ts';

const conversationOf = (changes: object, model: object = {}): Conversation => {
  const conversation = prepared({ ...changes }, { ...model }).toConversation?.();
  if (!conversation) throw new Error('a chat completion without a conversation');
  return conversation;
};

const call = (id: string, changes: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
  ...changes,
});

test('CHAT-5 a whole conversation keeps its order, its calls and its results', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    { role: 'assistant', content: null, tool_calls: [call('call_1'), call('call_2')] },
    {
      role: 'tool',
      tool_call_id: 'call_1',
      content: [
        { type: 'text', text: 'rain' },
        { type: 'text', text: 'wind' },
      ],
    },
    { role: 'tool', tool_call_id: 'call_2', content: 'sun' },
    { role: 'developer', content: 'In French.' },
    { role: 'assistant', content: [{ type: 'text', text: 'Il pleut.' }] },
    { role: 'assistant', content: null, refusal: 'Non.' },
  ];
  const toolCalls = ['call_1', 'call_2'].map((id) => ({ id, name: 'weather', arguments: '{"city":"Paris"}' }));
  expect(conversationOf({ messages }).turns).toEqual([
    { role: 'system', text: 'Be brief.', param: 'messages[0]' },
    { role: 'user', content: [{ kind: 'text', text: 'Weather?' }], param: 'messages[1]' },
    { role: 'assistant', text: '', toolCalls, param: 'messages[2]' },
    { role: 'tool', callId: 'call_1', text: 'rain\nwind', param: 'messages[3]' },
    { role: 'tool', callId: 'call_2', text: 'sun', param: 'messages[4]' },
    { role: 'system', text: 'In French.', param: 'messages[5]' },
    { role: 'assistant', text: 'Il pleut.', toolCalls: [], param: 'messages[6]' },
    { role: 'assistant', text: 'Non.', toolCalls: [], param: 'messages[7]' },
  ]);
});

test('CHAT-5 signatures of calls go back to Google’s models, and to no other provider', () => {
  const signed = call('call_1', { extra_content: { google: { thought_signature: 'opaque' } } });
  const messages = [hello, { role: 'assistant', content: null, tool_calls: [signed] }];
  const request = prepared({ messages });
  expect(request.toConversation?.().turns[1]).toMatchObject({ toolCalls: [{ id: 'call_1', signature: 'opaque' }] });
  expect(request.body.messages).toEqual([hello, { role: 'assistant', content: null, tool_calls: [call('call_1')] }]);
});

test('CHAT-5 tools, their choice and parallel calls have provider-neutral forms', () => {
  const asked = {
    tools: [tool({ description: 'd', strict: true }), tool({ name: 'bare', parameters: undefined })],
    tool_choice: { type: 'function', function: { name: 'bare' } },
    parallel_tool_calls: false,
  };
  expect(conversationOf(asked)).toMatchObject({
    tools: [
      { name: 'get_weather', description: 'd', parameters: { type: 'object' }, strict: true },
      { name: 'bare', description: undefined, parameters: undefined, strict: undefined },
    ],
    toolChoice: { name: 'bare' },
    parallelToolCalls: false,
  });
  expect(conversationOf({ tools: [tool()], tool_choice: 'required' }).toolChoice).toBe('required');
  expect(conversationOf({ tool_choice: 'none' }).toolChoice).toBeUndefined();
});

test('CHAT-8 response formats have provider-neutral forms', () => {
  const schema = { type: 'object' };
  const json_schema = { name: 'person', schema, strict: true };
  expect(conversationOf({ response_format: { type: 'json_schema', json_schema } }).format).toEqual({
    kind: 'json_schema',
    name: 'person',
    description: undefined,
    schema,
    strict: true,
  });
  expect(conversationOf({ response_format: { type: 'json_object' } }).format).toEqual({ kind: 'json_object' });
  expect(conversationOf({ response_format: { type: 'text' } }).format).toBeUndefined();
});

test('CHAT-6 images keep their URL, their detail and their place', () => {
  const content = [
    { type: 'image_url', image_url: { url: png, detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
  ];
  expect(conversationOf({ messages: [{ role: 'user', content }] }).turns).toMatchObject([
    {
      content: [
        { kind: 'image', url: png, detail: 'low', param: 'messages[0].content[0].image_url.url' },
        {
          kind: 'image',
          url: 'https://example.com/a.jpg',
          detail: 'auto',
          param: 'messages[0].content[1].image_url.url',
        },
      ],
    },
  ]);
});

test('CHAT-16 fields that some other providers have are among the extras', () => {
  const asked = {
    logit_bias: { 1: 2 },
    verbosity: 'low',
    prompt_cache_key: 'k',
    safety_identifier: 's',
    presence_penalty: 0.5,
    frequency_penalty: 0,
    logprobs: false,
    store: false,
    service_tier: 'auto',
    modalities: ['text'],
    n: 1,
    user: 'someone',
  };
  const { extras, endUser } = conversationOf(asked, { reasoning: effortField('reasoning_effort') });
  expect(endUser).toBe('someone');
  expect(extras).toEqual({
    verbosity: 'low',
    prompt_cache_key: 'k',
    safety_identifier: 's',
    presence_penalty: 0.5,
    frequency_penalty: 0,
  });
});

test('MSG-3 the alias with the suffix turns thinking on without a required call, the id does not', () => {
  const thinking = { adaptive: true, manualBudget: false, canDisable: true, suffix: '-thinking' };
  const model = { thinking, aliases: ['alpha-1-thinking'] };
  expect(conversationOf({ model: 'alpha-1-thinking' }, model).thinking).toBe(true);
  expect(conversationOf({ model: 'alpha-1' }, model).thinking).toBe(false);
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const thinks = (tool_choice: unknown) =>
    conversationOf({ model: 'alpha-1-thinking', tools, tool_choice }, model).thinking;
  expect(['auto', 'none', null].map(thinks)).toEqual([true, true, true]);
  expect(['required', { type: 'function', function: { name: 'look' } }].map(thinks)).toEqual([false, false]);
});

test('CHAT-1 the settings of the field table are kept unchanged', () => {
  const { temperature, topP, stop, seed } = conversationOf({ temperature: 0.3, top_p: 0.9, stop: ['a', 'b'], seed: 4 });
  expect([temperature, topP, stop, seed]).toEqual([0.3, 0.9, ['a', 'b'], 4]);
  expect(conversationOf({ stop: 'a' }).stop).toEqual(['a']);
  expect(conversationOf({ messages: showing(jpeg) }).stop).toEqual([]);
});

test.for([
  ['arguments of one call', [JSON.stringify({ a: Array(1_000_000).fill(0) })], [], 'tool_calls[0].function.arguments'],
  [
    'arguments of two calls',
    [0, 1].map(() => ` ${JSON.stringify({ a: Array(500_000).fill(0) })}`),
    [],
    'tool_calls[1].function.arguments',
  ],
  ['arguments and a result', ['{}'], [JSON.stringify({ a: Array(1_000_000).fill(0) })], 'content'],
] as const)('CHAT-5 a million values in %s are 400', ([, calls, results, place]) => {
  const messages = [
    hello,
    {
      role: 'assistant',
      tool_calls: calls.map((text, index) => call(`call_${index}`, { function: { name: 'f', arguments: text } })),
    },
    ...results.map((content) => ({ role: 'tool', tool_call_id: 'call_0', content })),
  ];
  const param = `messages[${results.length + 1}].${place}`;
  expect(() => conversationOf({ messages })).toThrow(
    expect.objectContaining({
      ...{ code: 'invalid_messages', status: 400, param },
      message: `${param}: the arguments and results of tools have more than 1000000 JSON values together. Send fewer.`,
    }),
  );
});

test('CHAT-5 arguments of a call with more than 100,000 objects, arrays and names are 400', () => {
  const withObjects = (count: number) => {
    const text = `{"a":[${Array.from({ length: count - 3 }, () => '{}').join()}]}`;
    return conversationOf({
      messages: [hello, { role: 'assistant', tool_calls: [call('a', { function: { name: 'f', arguments: text } })] }],
    });
  };
  expect(() => withObjects(100_000)).not.toThrow();
  expect(() => withObjects(100_001)).toThrow(
    expect.objectContaining({
      ...{ code: 'invalid_messages', param: 'messages[1].tool_calls[0].function.arguments' },
      message: expect.stringContaining('has more than 100000 objects, arrays and member names. Send fewer.'),
    }),
  );
});

test('CHAT-5 results of tools that are not JSON objects have no limit of values', () => {
  const text = `log: ${'{[:,'.repeat(500_000)}`;
  const messages = [
    hello,
    { role: 'assistant', tool_calls: [call('a')] },
    { role: 'tool', tool_call_id: 'a', content: text },
  ];
  expect(conversationOf({ messages }).turns[2]).toMatchObject({ text });
});
