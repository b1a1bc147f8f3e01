import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { simulator, openai } = await startSimulated();

type Params = Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model' | 'messages' | 'stream'>;

const ask = (content: string, more: Params = {}, model = 'gpt-4.1-mini') =>
  openai.chat.completions.create({ model, messages: [{ role: 'user', content }], ...more });

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object' } },
};

test.each<[string, Params, string]>([
  ['max_tokens', { max_tokens: 10 }, 'gpt-6-luna'],
  ['temperature', { temperature: 0.5 }, 'gpt-5.4'],
  ['reasoning_effort', { tools: [weather], reasoning_effort: 'low' }, 'gpt-6-sol'],
  ['reasoning_effort', { tools: [weather] }, 'gpt-6-sol'],
  ['reasoning_effort', { reasoning_effort: 'none' }, 'gpt-6.2-sol'],
  ['reasoning_effort', { reasoning_effort: 'low' }, 'gpt-4.1-mini'],
])('%s is rejected for a model without support for it', async (param, params, model) => {
  const error = { status: 400, type: 'invalid_request_error', param };
  await expect(ask('Hello', params, model)).rejects.toMatchObject(error);
});

test('tools and sampling work with reasoning turned off', async () => {
  const params: Params = { tools: [weather], reasoning_effort: 'none', temperature: 0.5 };
  const completion = await ask('Weather in Rome?', params, 'gpt-6-luna');
  expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
});

const user = (content: unknown) => ({ role: 'user', content });
const calls = 'messages[1].tool_calls';
const orphan = { role: 'tool', tool_call_id: 'call_1', content: '21 degrees' };
const showing = { ...orphan, content: [{ type: 'image_url', image_url: { url: 'https://a.test/b.png' } }] };
const imaged = (url: string) => ({ messages: [user([{ type: 'image_url', image_url: { url } }])] });

test.each<[string, object, object]>([
  ['no model', { model: undefined }, { param: null }],
  ['no messages', { messages: undefined }, { param: 'messages', code: 'missing_required_parameter' }],
  ['empty messages', { messages: [] }, { param: 'messages' }],
  ['an unknown role', { messages: [{ role: 'narrator', content: 'x' }] }, { param: 'messages[0].role' }],
  ['an unknown field', { top_k: 5 }, { param: 'top_k', code: 'unknown_parameter' }],
  ['an empty list of calls', { messages: [user('Hi'), { role: 'assistant', tool_calls: [] }] }, { param: calls }],
  ['stream_options without stream', { stream_options: {} }, { param: 'stream_options' }],
  ['metadata without store', { metadata: { a: 'b' }, store: false }, { message: expect.stringContaining("'store'") }],
  ['a long user', { user: 'u'.repeat(65) }, { param: 'user', code: 'string_above_max_length' }],
  ['a long cache key', { prompt_cache_key: 'k'.repeat(65) }, { param: 'prompt_cache_key' }],
  ['a retention that ended', { model: 'gpt-5.5', prompt_cache_retention: 'in_memory' }, { code: 'unsupported_value' }],
  ['a tool result without its call', { messages: [user('Hi'), orphan] }, { param: 'messages.[1].role' }],
  ['data that are not an image', imaged('data:image/png;base64,bm8gaW1hZ2U='), { code: 'invalid_image_format' }],
  ['an image out of reach', imaged('https://gone.invalid/a.png'), { code: 'invalid_image_url' }],
  ['an image in a tool result', { messages: [user('Hi'), showing] }, { param: 'messages[1]' }],
  ['two caps', { max_tokens: 5, max_completion_tokens: 5 }, { code: 'invalid_parameter_combination' }],
])('a request with %s is rejected', async (_, change, expected) => {
  const body = { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hello' }], ...change };
  const request = { method: 'POST', headers: { authorization: 'Bearer x' }, body: JSON.stringify(body) };
  const response = await fetch(`${simulator.url}/v1/chat/completions`, request);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', ...expected } });
});

const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } };
const copied = {
  role: 'assistant',
  content: null,
  tool_calls: [{ ...call, index: 0 }],
  reasoning_content: 'x',
  id: 'a',
};
const cacheControlled = { type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } };
const nothing = { refusal: null, audio: null, function_call: null, tool_calls: null, name: null };
const nullFields = ['tools', 'tool_choice', 'response_format', 'user', 'stop', 'parallel_tool_calls', 'functions'];

test.each<[string, object]>([
  ['unknown members of messages and calls', { messages: [user('Hi'), copied, orphan] }],
  ['unknown members of parts', { messages: [user([cacheControlled])] }],
  ['null in optional members of messages', { messages: [{ role: 'assistant', content: 'Hi', ...nothing }] }],
  ['null in optional fields', Object.fromEntries(nullFields.map((name) => [name, null]))],
  ['an empty logit_bias of a model that reasons', { model: 'gpt-5.4', logit_bias: {} }],
  ['the defaults of sampling of a model that reasons', { model: 'gpt-5.4', temperature: 1, presence_penalty: 0 }],
  ['options of the prompt cache', { prompt_cache_retention: '24h', prompt_cache_options: { mode: 'explicit' } }],
])('a request with %s is accepted', async (_, change) => {
  const body = { model: 'gpt-4.1-mini', messages: [user('Hello')], ...change };
  const request = { method: 'POST', headers: { authorization: 'Bearer x' }, body: JSON.stringify(body) };
  const response = await fetch(`${simulator.url}/v1/chat/completions`, request);
  expect(await response.json()).toMatchObject({ object: 'chat.completion' });
});

test('a JSON format without the word JSON in a message is rejected', async () => {
  const format: Params = { response_format: { type: 'json_object' } };
  await expect(ask('Give me an object', format)).rejects.toMatchObject({ status: 400, param: 'messages' });
  expect((await ask('Give me JSON', format)).choices).toHaveLength(1);
});

test('the usage adds up', async () => {
  const {
    prompt_tokens: input = 0,
    completion_tokens: output = 0,
    total_tokens: total,
  } = (await ask('Hello')).usage ?? {};
  expect([input > 0, output > 0, total]).toEqual([true, true, input + output]);
});

test('any Bearer token is accepted, and a request without a token is rejected', async () => {
  const response = await fetch(`${simulator.url}/v1/models`);
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key', param: null } });
  const listed = await openai.models.list();
  expect(listed.data.map(({ id }) => id)).toContain('gpt-4.1-mini');
  expect(await openai.models.retrieve('gpt-5.4-pro')).toMatchObject({ id: 'gpt-5.4-pro', object: 'model' });
  await expect(openai.models.retrieve('gpt-3')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
});

test.each<Record<string, string>>([{ 'x-api-key': 'sk-ant' }, { authorization: 'Bearer sk-ant' }])(
  'the headers %j select the provider of a shared path',
  async (key) => {
    const headers = { ...key, 'anthropic-version': '2023-06-01' };
    const listed = (await (await fetch(`${simulator.url}/v1/models`, { headers })).json()) as object;
    expect(listed).toHaveProperty('has_more');
    expect(await openai.models.list()).not.toHaveProperty('has_more');
  },
);

test('an unknown path gets 404 with an error body', async () => {
  for (const path of ['/v1/messages/unheard', '/v1beta/unheard']) {
    expect((await fetch(`${simulator.url}${path}`, { method: 'POST', body: '{}' })).status).toBe(404);
  }
  const response = await fetch(`${simulator.url}/v1/unheard`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { message: 'Invalid URL (POST /v1/unheard)' } });
});
