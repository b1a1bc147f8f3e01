import { expect, test } from 'vitest';
import { type Conversation, JSON_INSTRUCTION } from '../../../../lambdas/core/text/conversation.ts';
import { type CallParts, messagesCall, sentFor, wireTo } from './messages-call.ts';

const tool = { name: 'find', description: undefined, parameters: undefined, strict: undefined };
const tools = [tool];
const schema = { type: 'object', additionalProperties: false };
const format = { kind: 'json_schema', name: 'n', description: undefined, schema, strict: undefined } as const;

const rows: readonly (readonly [string, Partial<Conversation>, object])[] = [
  ['no optional field', {}, {}],
  ['temperature', { temperature: 0.5 }, { temperature: 0.5 }],
  ['the highest temperature', { temperature: 1 }, { temperature: 1 }],
  ['top_p', { topP: 0.9 }, { top_p: 0.9 }],
  ['stop', { stop: ['###', '\n\nEnd'] }, { stop_sequences: ['###', '\n\nEnd'] }],
  ['effort', { effort: 'xhigh' }, { output_config: { effort: 'xhigh' } }],
  ['a schema', { format }, { output_config: { format: { type: 'json_schema', schema } } }],
  [
    'a strict schema with effort',
    { format: { ...format, strict: true }, effort: 'low' },
    {
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    },
  ],
  ['user', { endUser: 'u-1' }, { metadata: { user_id: 'u-1' } }],
  ['a tool without arguments', { tools }, { tools: [{ name: 'find', input_schema: { type: 'object' } }] }],
  [
    'a tool with every member',
    { tools: [{ name: 'f', description: 'Finds.', parameters: { type: 'object', required: ['a'] }, strict: false }] },
    { tools: [{ name: 'f', description: 'Finds.', input_schema: { type: 'object', required: ['a'] }, strict: false }] },
  ],
  [
    'a schema of arguments without a type',
    { tools: [{ ...tool, parameters: {} }] },
    {
      tools: [{ name: 'find', input_schema: { type: 'object' } }],
    },
  ],
];

test.for(rows)(
  'CHAT-16 a provider of another protocol gets the right fields for %s',
  async ([, conversation, expected]) => {
    expect(await sentFor({ conversation })).toEqual({
      model: 'claude-vendor-20260101',
      max_tokens: 4_000,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      ...expected,
    });
  },
);

test.for([
  ['auto', undefined, { type: 'auto' }],
  ['none', undefined, { type: 'none' }],
  ['required', undefined, { type: 'any' }],
  [{ name: 'find' }, undefined, { type: 'tool', name: 'find' }],
  [undefined, undefined, undefined],
  [undefined, true, undefined],
  ['auto', true, { type: 'auto' }],
  [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
  ['required', false, { type: 'any', disable_parallel_tool_use: true }],
  [{ name: 'find' }, false, { type: 'tool', name: 'find', disable_parallel_tool_use: true }],
  ['none', false, { type: 'none' }],
] as const)('CHAT-5 the choice %j with parallel calls %j', async ([toolChoice, parallelToolCalls, expected]) => {
  expect((await sentFor({ conversation: { tools, toolChoice, parallelToolCalls } })).tool_choice).toEqual(expected);
});

test('CHAT-5 without tools no choice is sent', async () => {
  expect(await sentFor({ conversation: { parallelToolCalls: false } })).not.toHaveProperty('tool_choice');
});

const video = {
  kind: 'video',
  url: 'data:video/mp4;base64,AAAA',
  param: 'messages[0].content[0].image_url.url',
} as const;
const refused: readonly (readonly [string, Partial<Conversation>, string])[] = [
  ['a stop sequence of blanks', { stop: ['a', ' \n'] }, 'stop'],
  ['an empty stop sequence', { stop: [''] }, 'stop'],
  ['a format without a schema', { format: { ...format, schema: undefined } }, 'response_format.json_schema.schema'],
  ['a video', { turns: [{ role: 'user', content: [video], param: 'messages[0]' }] }, video.param],
];

test.for(refused)('CHAT-16 %s gets an error that names it before anything is sent', ([, conversation, param]) => {
  const { wire, seen } = wireTo();
  const attempt = () => wire.buildCall(messagesCall({ conversation }));
  expect(attempt).toThrow(expect.objectContaining({ code: 'invalid_request_error', param, status: 400 }));
  expect(attempt).toThrow(param);
  expect(seen.requests).toEqual([]);
});

test('CHAT-8 json_object becomes one sentence at the end of the system prompt', async () => {
  const format = { kind: 'json_object' } as const;
  expect((await sentFor({ conversation: { format } })).system).toBe(JSON_INSTRUCTION);
  const turns: Conversation['turns'] = [
    { role: 'system', text: 'Be brief.', param: 'messages[0]' },
    { role: 'user', content: [{ kind: 'text', text: 'Hi' }], param: 'messages[1]' },
  ];
  const sent = await sentFor({ conversation: { turns, format } });
  expect(sent.system).toBe(`Be brief.\n\n${JSON_INSTRUCTION}`);
  expect(sent).not.toHaveProperty('output_config');
});

test.for(['none', 'minimal'])(
  'CHAT-9 the effort %s becomes low, and turns thinking off if the model can',
  async (effort) => {
    const can = { adaptive: true, manualBudget: false, canDisable: true, suffix: '-thinking' };
    const conversation = { effort };
    const reasoning = { field: 'output_config.effort', accepted: ['low', 'max'], default: 'low', levelsUi: [] };
    expect(await sentFor({ conversation, model: { reasoning, thinking: can } })).toMatchObject({
      output_config: { effort: 'low' },
      thinking: { type: 'disabled' },
    });
    const sent = await sentFor({ conversation, model: { reasoning, thinking: { ...can, canDisable: false } } });
    expect(sent.output_config).toEqual({ effort: 'low' });
    expect(sent).not.toHaveProperty('thinking');
  },
);

const thinking = (adaptive: boolean, parts: CallParts = {}): CallParts => ({
  conversation: { thinking: true },
  model: { thinking: { adaptive, manualBudget: !adaptive, canDisable: true, suffix: '-thinking' } },
  ...parts,
});

test('MSG-3 thinking on a model with adaptive thinking has no budget', async () => {
  const body = await sentFor(thinking(true), { outputTokensMax: 300 });
  expect(body.thinking).toEqual({ type: 'adaptive', display: 'summarized' });
});

test.for([
  [1_025, 1_024],
  [2_048, 1_024],
  [2_050, 1_025],
  [64_001, 32_000],
] as const)('MSG-3 thinking with a budget: of a cap of %i it is %i', async ([outputTokensMax, budget]) => {
  expect(await sentFor(thinking(false), { outputTokensMax })).toMatchObject({
    max_tokens: outputTokensMax,
    thinking: { type: 'enabled', budget_tokens: budget },
  });
});

test('BILL-6 the smallest cap has room for the smallest budget, also in the native format', () => {
  const minOf = (parts: CallParts) => wireTo().wire.buildCall(messagesCall(parts)).outputTokensMin;
  expect(minOf(thinking(false))).toBe(1_025);
  expect(minOf(thinking(true))).toBeUndefined();
  expect(minOf({})).toBeUndefined();
  const call = messagesCall();
  const body = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
  const native = { ...call, protocol: 'messages' as const, request: { ...call.request, body } };
  expect(wireTo().wire.buildCall(native).outputTokensMin).toBe(1_025);
});

test('MSG-3, CHAT-5 tool results are rejected with a thinking budget, and accepted without one', async () => {
  const turns: Conversation['turns'] = [
    { role: 'user', content: [{ kind: 'text', text: 'Hi' }], param: 'messages[0]' },
    { role: 'assistant', text: '', toolCalls: [{ id: 'c', name: 'find', arguments: '{}' }], param: 'messages[1]' },
    { role: 'tool', callId: 'c', text: 'x', param: 'messages[2]' },
  ];
  const called = (adaptive: boolean): CallParts => ({ ...thinking(adaptive), conversation: { thinking: true, turns } });
  expect(() => wireTo().wire.buildCall(messagesCall(called(false)))).toThrow(/^model: .*\/v1\/messages/);
  expect(await sentFor(called(true), { outputTokensMax: 300 })).toHaveProperty('thinking');
  expect(await sentFor({ ...called(false), conversation: { turns } })).not.toHaveProperty('thinking');
});
