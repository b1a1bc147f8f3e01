import { expect, test } from 'vitest';
import { createResponse, errorPayload, responseResource, streamEvent } from '../support/open-responses.ts';
import { allNamedEvents, postResponses } from '../support/responses-client.ts';
import { startSimulated } from './simulated-gateway.ts';

const { gateway } = await startSimulated({ LOCAL_BALANCE_USD: '100' });

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const said = (content: unknown, more: object = {}) => ({ type: 'message', role: 'assistant', content, ...more });
const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const weather = { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } };
const call = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{}', status: 'completed' };
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

/** Requests of Open Responses that need no stored state. */
const accepted: readonly (readonly [about: string, body: Readonly<Record<string, unknown>>])[] = [
  ['a text', { input: 'Say hello' }],
  ['a list of messages', { input: [user('My name is Ann.'), said('Hello Ann.'), user('What is my name?')] }],
  [
    'phases',
    { input: [said('I look.', { phase: 'commentary' }), said('Four.', { phase: 'final_answer' }), user('Again?')] },
  ],
  [
    'instructions',
    { instructions: 'Be brief.', input: [{ type: 'message', role: 'system', content: 'x' }, user('Hi')] },
  ],
  [
    'parts',
    {
      input: [
        user([
          { type: 'input_text', text: 'What is it?' },
          { type: 'input_image', image_url: png },
        ]),
      ],
    },
  ],
  [
    'null in optional fields',
    { input: 'Hi', tools: null, text: null, metadata: null, temperature: null, reasoning: null },
  ],
  ['a tool', { input: 'Weather in Rome?', tools: [weather], parallel_tool_calls: true }],
  [
    'a choice of tools',
    { input: 'Hi', tools: [weather], tool_choice: { type: 'allowed_tools', tools: [weather], mode: 'auto' } },
  ],
  [
    'a result of a tool',
    {
      tools: [weather],
      input: [user('Weather?'), call, { type: 'function_call_output', call_id: 'call_1', output: '21' }],
    },
  ],
  [
    'a schema',
    { input: 'Hi', text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema, strict: true } } },
  ],
  [
    'reasoning',
    { input: 'Hi', reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
  ],
  [
    'hints',
    {
      ...{ input: 'Hi', temperature: 0.5, top_p: 0.9, presence_penalty: 0.5, frequency_penalty: 0.5, top_logprobs: 0 },
      ...{ safety_identifier: 's', prompt_cache_key: 'k', truncation: 'disabled', service_tier: 'auto' },
      ...{ metadata: { a: 'b' }, max_tool_calls: 3, max_output_tokens: 2_000, store: false, background: false },
    },
  ],
  ['a short limit', { input: '[[reasoning 50]] Think', max_output_tokens: 16 }],
];

test.each(accepted)('RESP-1 a request of Open Responses with %s gets a response of it', async (_about, body) => {
  createResponse.parse(body);
  const response = await postResponses(gateway, body);
  const answer = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  responseResource.parse(answer);
});

test.each(accepted)('RESP-1 a stream of Open Responses with %s has events of it', async (_about, body) => {
  const streamed = { ...body, stream: true, stream_options: { include_obfuscation: false } };
  createResponse.parse(streamed);
  const events = await allNamedEvents(await postResponses(gateway, streamed));
  for (const event of events) streamEvent.parse(event);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)?.type).toMatch(/^response\.(completed|incomplete)$/);
});

test('RESP-1 every field of Open Responses that needs no state is tried', () => {
  const tried = accepted.flatMap(([, body]) => Object.keys(body));
  const elsewhere = ['model', 'previous_response_id', 'stream', 'stream_options'];
  expect(new Set([...tried, ...elsewhere])).toEqual(new Set(Object.keys(createResponse.shape)));
});

test('GEN-3 a broken stream ends with events of Open Responses', async () => {
  const events = await allNamedEvents(await postResponses(gateway, { input: '[[cut 3]] Hello', stream: true }));
  for (const event of events) streamEvent.parse(event);
  expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
});

test.each([
  ['an earlier response', { input: 'Hi', previous_response_id: 'resp_1' }],
  ['storage', { input: 'Hi', store: true }],
  ['a reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
])('RESP-4 a request of Open Responses for %s gets an error of it', async (_about, body) => {
  createResponse.parse(body);
  const response = await postResponses(gateway, body);
  expect(response.status).toBe(400);
  errorPayload.parse((await response.json()).error);
});
