import { expect, test } from 'vitest';
import { saying, sdkFor } from '../support/gateway-chat.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '100' });
const { completions } = sdkFor(gateway).chat;

const review = {
  type: 'object',
  properties: {
    score: { type: 'number', minimum: 0, maximum: 1 },
    name: { type: 'string', minLength: 1 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true },
    replies: { type: 'array', items: { $ref: '#' } },
  },
  required: ['score', 'name', 'tags', 'replies'],
};

test.each([
  ['claude-haiku-4-5', ['%24ref', 'maximum', 'minItems', 'minLength', 'minimum', 'uniqueItems']],
  ['gemini-3.8-flash', ['minLength', 'required', 'uniqueItems']],
  ['gpt-5.4-mini', []],
])('CHAT-8 %s accepts a schema with bounds, and the header lists %j', async (model, keywords) => {
  const format = { type: 'json_schema' as const, json_schema: { name: 'review', schema: review } };
  const { response, data } = await completions
    .create({ model, messages: saying('Review it'), response_format: format })
    .withResponse();
  expect(JSON.parse(data.choices[0]?.message.content ?? '')).toHaveProperty('score');
  const names = keywords.map((keyword) => `response_format.json_schema.schema.${keyword}`);
  expect(response.headers.get('x-service-ignored-parameters')).toBe(names.length > 0 ? names.sort().join(',') : null);
});

/** Calls and results as another gateway wrote them, with one id for all calls. */
const id = `functions.mcp/find:0${'x'.repeat(60)}`;
const called = [
  {
    role: 'assistant' as const,
    content: null,
    tool_calls: [{ id, type: 'function' as const, function: { name: 'mcp.find:town', arguments: '{"q":"a"}' } }],
  },
  { role: 'tool' as const, tool_call_id: id, content: 'Riga' },
];
const history = [
  ...saying('Which town has the oldest lighthouse?'),
  ...called,
  ...called,
  ...saying('And the second oldest?'),
];
const reload = { name: '1c_reload', parameters: { type: 'object', properties: { q: { type: 'string' } } } };
const models = ['claude-haiku-4-5', 'gemini-3.8-flash', 'gpt-4.1-mini', 'gpt-5.6-sol'];

test.each(models)('CHAT-5 %s accepts the history of another gateway, and calls the own name', async (model) => {
  const body = { model, messages: history, tools: [{ type: 'function' as const, function: reload }] };
  const whole = await completions.create(body);
  const [call] = whole.choices[0]?.message.tool_calls ?? [];
  expect(call?.type === 'function' && call.function.name).toBe('1c_reload');
  const names: (string | undefined)[] = [];
  for await (const { choices } of await completions.create({ ...body, stream: true })) {
    names.push(...(choices[0]?.delta.tool_calls ?? []).map((piece) => piece.function?.name));
  }
  expect(names.filter(Boolean)).toEqual(['1c_reload']);
  expect(vendor.requests).toHaveLength(2);
});

test('CHAT-8 gemini-3.8-flash accepts tools with a loop and with members beside a reference', async () => {
  const node = {
    type: 'object',
    properties: { name: { type: 'string' }, inner: { type: 'array', items: { $ref: '#/$defs/node' } } },
    required: ['name', 'inner'],
  };
  const root = { $ref: '#/$defs/node', title: 'Root', examples: [{ name: 'a' }] };
  const parameters = { type: 'object', $defs: { node }, properties: { root }, required: ['root'] };
  const { data, response } = await completions
    .create({
      model: 'gemini-3.8-flash',
      messages: saying('Save it'),
      tools: [{ type: 'function', function: { name: 'save', parameters } }],
    })
    .withResponse();
  expect(data.choices[0]?.finish_reason).toBe('tool_calls');
  expect(response.headers.get('x-service-ignored-parameters')).toBe('tools[].function.parameters.required');
});
