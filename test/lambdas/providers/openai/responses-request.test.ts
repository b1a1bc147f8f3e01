import { expect, test } from 'vitest';
import type { Conversation } from '../../../../lambdas/core/text/conversation.ts';
import { responsesAnswer } from '../../../fixtures/openai/responses-answer.ts';
import { chatCall, nativeCall, play } from './responses-wire-world.ts';

const body = JSON.stringify(responsesAnswer);
const asked = async (changes: Partial<Conversation>, stream = false) =>
  (await play(chatCall(changes, { stream }), { body })).asked;

const always = { model: 'vendor-name', max_output_tokens: 321, store: false };

test('BILL-6 only the model, the cap and store change in the body of a responses client', async () => {
  const sent = {
    model: 'alpha-1',
    input: [{ role: 'user', content: 'Hi' }],
    max_output_tokens: 4,
    store: true,
    reasoning: { effort: 'high' },
    vendor_extra: { deep: [1, null] },
  };
  expect((await play(nativeCall(sent), { body })).asked).toEqual({ ...sent, ...always });
  expect((await play(nativeCall({ input: 'Hi' }), { body })).asked).toEqual({ input: 'Hi', ...always });
});

test('CHAT-5 a conversation becomes input items, in its order', async () => {
  const param = 'messages[0]';
  const turns: Conversation['turns'] = [
    { role: 'system', text: 'Be brief.', param },
    {
      role: 'user',
      content: [
        { kind: 'text', text: 'What is this?' },
        { kind: 'image', url: 'https://example.com/a.png', detail: 'low', param },
      ],
      param,
    },
    {
      role: 'assistant',
      text: 'Let me look.',
      toolCalls: [
        { id: 'call_1', name: 'look', arguments: '{"at":1}' },
        { id: 'call_2', name: 'look', arguments: '' },
      ],
      param,
    },
    { role: 'tool', callId: 'call_1', text: 'a cat', param },
    { role: 'tool', callId: 'call_2', text: '', param },
    { role: 'system', text: 'Now answer.', param },
    { role: 'assistant', text: '', toolCalls: [{ id: 'call_3', name: 'look', arguments: '{}' }], param },
    { role: 'assistant', text: '', toolCalls: [], param },
  ];
  expect(await asked({ turns })).toEqual({
    ...always,
    input: [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
        ],
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }], phase: 'commentary' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a cat' },
      { type: 'function_call_output', call_id: 'call_2', output: '' },
      { role: 'developer', content: 'Now answer.' },
      { type: 'function_call', call_id: 'call_3', name: 'look', arguments: '{}' },
    ],
  });
});

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const tool = { name: 'f', description: undefined, parameters: schema, strict: undefined };
const sentTool = { type: 'function', name: 'f', parameters: schema, strict: false };
const format = { kind: 'json_schema', name: 'n', description: undefined, schema, strict: undefined } as const;

test.for([
  [{ tools: [tool] }, { tools: [sentTool] }],
  [
    { tools: [{ ...tool, description: 'd', strict: true }] },
    { tools: [{ ...sentTool, description: 'd', strict: true }] },
  ],
  [
    { tools: [{ ...tool, parameters: undefined }] },
    {
      tools: [
        { ...sentTool, parameters: { type: 'object', properties: {}, required: [], additionalProperties: false } },
      ],
    },
  ],
  [{ toolChoice: 'auto' }, { tool_choice: 'auto' }],
  [{ toolChoice: 'required' }, { tool_choice: 'required' }],
  [{ toolChoice: 'none' }, { tool_choice: 'none' }],
  [{ toolChoice: { name: 'f' } }, { tool_choice: { type: 'function', name: 'f' } }],
  [{ parallelToolCalls: false }, { parallel_tool_calls: false }],
  [{ effort: 'xhigh' }, { reasoning: { effort: 'xhigh' } }],
  [
    { temperature: 0, topP: 0.5 },
    { temperature: 0, top_p: 0.5 },
  ],
  [{ endUser: 'someone' }, { user: 'someone' }],
  [{ format: { kind: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
  [{ format }, { text: { format: { type: 'json_schema', name: 'n', schema, strict: false } } }],
  [
    { format: { ...format, description: 'd', strict: true } },
    { text: { format: { type: 'json_schema', name: 'n', description: 'd', schema, strict: true } } },
  ],
  [
    { extras: { metadata: { a: 'b' }, prompt_cache_key: 'k', safety_identifier: 's', verbosity: 'low' } },
    { metadata: { a: 'b' }, prompt_cache_key: 'k', safety_identifier: 's', text: { verbosity: 'low' } },
  ],
  [
    { format: { kind: 'json_object' }, extras: { verbosity: 'high' } },
    { text: { format: { type: 'json_object' }, verbosity: 'high' } },
  ],
] as const satisfies readonly (readonly [Partial<Conversation>, object])[])(
  'CHAT-5 the fields %j of a chat completion become %j',
  async ([changes, fields]) => {
    const { input, ...rest } = await asked(changes);
    expect(rest).toEqual({ ...always, ...fields });
    expect(input).toEqual([{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }]);
  },
);

const video = {
  kind: 'video',
  url: 'data:video/mp4;base64,AA',
  param: 'messages[1].content[0].image_url.url',
} as const;

test.for([
  [{ format: { ...format, schema: undefined } }, 'response_format.json_schema.schema'],
  [{ turns: [{ role: 'user', content: [video], param: 'messages[1]' }] }, video.param],
] as const satisfies readonly (readonly [Partial<Conversation>, string])[])(
  'CHAT-16 the API does not support %j, so %s is rejected and nothing sent',
  async ([changes, param]) => {
    await expect(play(chatCall(changes), { body })).rejects.toMatchObject({
      code: 'invalid_request_error',
      param,
      message: expect.stringMatching(/^\S+: .+\.$/),
    });
  },
);

test('CHAT-16 several choices are 422', async () => {
  await expect(play(chatCall({}, { choices: 2 }), { body })).rejects.toMatchObject({ status: 422, param: 'n' });
});

test('CHAT-5 the result of a tool with an image is a list of parts', async () => {
  const param = 'messages[0]';
  const content = [
    { kind: 'text', text: 'left' } as const,
    { kind: 'image', url: 'https://example.com/a.png', detail: 'auto', param } as const,
  ];
  const turns: Conversation['turns'] = [
    { role: 'assistant', text: '', toolCalls: [{ id: 'c', name: 'look', arguments: '{}' }], param },
    { role: 'tool', callId: 'c', text: 'left', content, param },
  ];
  expect((await asked({ turns })).input).toMatchObject([
    { type: 'function_call' },
    {
      type: 'function_call_output',
      output: [
        { type: 'input_text', text: 'left' },
        { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
      ],
    },
  ]);
});
