import { BadRequestError } from 'openai';
import { expect, test } from 'vitest';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import type { Scenario } from '../../local/simulators/scenario.ts';
import {
  allEvents,
  chunkSchema,
  errorSchema,
  MODEL,
  postChat,
  pricesOf,
  readError,
  saying,
  sdkFor,
  spentBy,
} from '../support/gateway-chat.ts';
import { thrownBy } from '../support/messages-client.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '100' });
const { completions } = sdkFor(gateway).chat;

/** The provider rejects functions with reasoning on chat completions, so the gateway uses its responses API. */
const SOL = 'gpt-5.6-sol';
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
/**
 * Request that the gateway sends to the responses API because of its tools. The model must not call a tool, so it
 * returns text.
 */
const overResponses = { model: SOL, tools, tool_choice: 'none' as const };

const chunksOf = (events: readonly string[]) => events.map((event) => chunkSchema.parse(JSON.parse(event)));

test.each([
  ['/v1/chat/completions', { model: MODEL, stream_options: { include_usage: false } }],
  ['/v1/responses', overResponses],
])('CHAT-11 a stream over %s has one last chunk with finish, usage and cost, then [DONE]', async (path, body) => {
  const { result, spent } = await spentBy(gateway, async () => {
    const response = await postChat(gateway, { ...body, messages: saying('Say hello'), stream: true });
    return { headers: response.headers, events: await allEvents(response) };
  });
  expect(vendor.requests.map((request) => request.path)).toEqual([path]);
  expect(result.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(result.headers.get('x-accel-buffering')).toBe('no');
  const { events } = result;
  expect(events.indexOf('[DONE]')).toBe(events.length - 1);
  const chunks = chunksOf(events.slice(0, -1));
  expect(new Set(chunks.map(({ id, model }) => `${id} ${model}`)).size).toBe(1);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toContain('You wrote: Say hello');
  expect(chunks.slice(0, -1).every(({ choices, usage }) => choices[0]?.finish_reason === null && !usage)).toBe(true);
  const last = chunks.at(-1)!;
  expect([last.model, last.choices[0]?.finish_reason]).toEqual([body.model, 'stop']);
  expect(last.usage).toMatchObject({ cost: Number(formatUsd(spent)), cost_usd: formatUsd(spent) });
  expect(spent).toBe((await pricesOf(gateway, body.model))(last.usage!));
});

const long = 'k'.repeat(65);

test.each<[model: string, body: object, ignored: string | null]>([
  ['gpt-5.4-mini', { metadata: { team: 'blue' } }, 'metadata'],
  [SOL, { ...overResponses, metadata: { team: 'blue' } }, null],
  ['gpt-5.5', { prompt_cache_retention: 'in_memory', user: long }, 'prompt_cache_retention,user'],
  [SOL, { ...overResponses, prompt_cache_key: long, safety_identifier: long }, 'prompt_cache_key,safety_identifier'],
  ['gemini-3.8-flash', { seed: 2 ** 31 }, 'seed'],
  ['claude-haiku-4-5-thinking', { temperature: 0.2, max_tokens: 2_000 }, 'temperature'],
])('CHAT-16 %s works with a field that its provider refuses: %j', async (model, body, ignored) => {
  const response = await postChat(gateway, { ...body, model, messages: saying('Hello') });
  expect([response.status, response.headers.get('x-service-ignored-parameters')]).toEqual([200, ignored]);
});

test.each<[model: string, body: object]>([
  [MODEL, {}],
  [SOL, overResponses],
  ['claude-haiku-4-5', {}],
  ['gemini-3.8-flash', {}],
])('CHAT-11 a stream of %s with include_usage ends with the usage and the cost alone', async (model, more) => {
  const body = { ...more, model, messages: saying('Hi'), stream: true, stream_options: { include_usage: true } };
  const { result: events, spent } = await spentBy(gateway, async () => allEvents(await postChat(gateway, body)));
  expect(events.at(-1)).toBe('[DONE]');
  const chunks = chunksOf(events.slice(0, -1));
  const [finish, last] = chunks.slice(-2);
  expect(finish?.choices.map(({ finish_reason }) => finish_reason)).toEqual(['stop']);
  expect(finish?.usage ?? undefined).toBeUndefined();
  expect(last).toMatchObject({ id: chunks[0]?.id, model, choices: [], usage: { cost_usd: formatUsd(spent) } });
  expect(spent).toBeGreaterThan(0n);
});
test.each([
  ['/v1/responses', overResponses, 5, 16],
  ['/v1/messages', { model: 'claude-haiku-4-5-thinking' }, 5, 1_025],
])('BILL-6 over %s a limit below the minimum of the provider is raised', async (path, body, asked, cap) => {
  const { result, spent } = await spentBy(gateway, async () => {
    const { data, response } = await completions
      .create({ ...body, messages: saying('Say hello'), max_tokens: asked })
      .withResponse();
    expect(response.headers.get('x-service-max-tokens')).toBe(String(cap));
    return data.usage!;
  });
  expect(vendor.requests[0]?.path).toBe(path);
  expect(spent).toBe((await pricesOf(gateway, body.model.replace('-thinking', '')))(result));
});

test('CHAT-5 arguments that arrive whole at the start of a block reach the client', async () => {
  const messages = saying('[[whole-input]] [[call weather {"town":"Riga"}]]');
  const stream = await completions.create({ model: 'claude-haiku-4-5', tools, messages, stream: true });
  let args = '';
  for await (const { choices } of stream) args += choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
  expect(JSON.parse(args)).toEqual({ town: 'Riga' });
});

test.each(['claude-haiku-4-5', 'gemini-3.8-flash', SOL])('CHAT-5 %s accepts a call that was cut off', async (model) => {
  const cut = { id: 'c', type: 'function', function: { name: 'weather', arguments: '{"town":"Ri' } };
  const called = [
    { role: 'assistant', content: null, tool_calls: [cut] },
    { role: 'tool', tool_call_id: 'c', content: 'Riga' },
  ];
  const response = await postChat(gateway, { model, tools, messages: [...saying('Hi'), ...called] });
  expect(response.status).toBe(200);
  await response.text();
});

/** A blank message of each role, alone in its place and beside others. */
const blanks = ['', ' \n', [{ type: 'text', text: '' }]].flatMap((content) =>
  [
    [{ role: 'system', content }, ...saying('Hi')],
    [{ role: 'developer', content }, { role: 'system', content: 'Be brief.' }, ...saying('Hi')],
    [{ role: 'user', content }, ...saying('Hi')],
    [...saying('Hi'), { role: 'user', content }],
    [{ role: 'user', content }, { role: 'assistant', content: 'Hello' }, ...saying('Hi')],
    [...saying('Hi'), { role: 'assistant', content }, { role: 'user', content }, ...saying('Go on')],
    [
      ...saying('Hi'),
      {
        role: 'assistant',
        content,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: 'c', content },
      ...saying('Go on'),
    ],
  ].map((messages) => ({ messages })),
);

test.each(['claude-haiku-4-5', 'claude-opus-5', 'gemini-3.8-flash', SOL])(
  'CHAT-2 %s never gets a blank text that its provider rejects',
  async (model) => {
    for (const { messages } of blanks) {
      const response = await postChat(gateway, { ...overResponses, model, messages });
      expect([JSON.stringify(messages), response.status]).toEqual([JSON.stringify(messages), 200]);
      await response.text();
    }
    const alone = await postChat(gateway, { ...overResponses, model, messages: saying(' ') });
    expect(await readError(alone)).toMatchObject({ code: 'invalid_messages', param: 'messages[0].content' });
  },
);

test('CHAT-5 commentary is the content beside a call, and dropped before the final answer', async () => {
  const messages = saying('[[commentary]] Which town?');
  for (const [choice, content] of [
    ['none', expect.stringMatching(/^This is a simulated/)],
    ['required', 'I will look first.'],
  ] as const) {
    const body = { model: SOL, tools, tool_choice: choice, messages };
    const { choices } = await completions.create(body);
    expect(choices[0]?.message.content).toEqual(content);
    const events = await allEvents(await postChat(gateway, { ...body, stream: true }));
    const pieces = chunksOf(events.slice(0, -1)).map((chunk) => chunk.choices[0]?.delta.content ?? '');
    expect(pieces.join('')).toEqual(content);
  }
});

test.each<[model: string, body: object]>([
  ['gpt-5.4-mini', {}],
  [SOL, overResponses],
  ['claude-haiku-4-5', {}],
  ['gemini-3.8-flash', {}],
])('CHAT-2 CHAT-5 a response of %s that was cut off during reasoning can be sent back', async (model, more) => {
  const messages = saying('[[reasoning 50]] Think');
  const first = await completions.create({ ...more, model, messages, max_completion_tokens: 20 });
  const [choice] = first.choices;
  expect(choice).toMatchObject({ finish_reason: 'length', message: { role: 'assistant' } });
  expect(choice?.message.content ?? '').toBe('');
  const { choices } = await completions.create({
    ...{ ...more, model },
    messages: [...messages, choice!.message, ...saying('Say hello')],
  });
  expect(choices[0]?.message.content).toContain('Say hello');
});

test.each([
  ['claude-haiku-4-5', 'logprobs,reasoning_effort,top_logprobs'],
  ['gemini-3.8-flash', 'logprobs,reasoning_effort,top_logprobs'],
])('CHAT-9, CHAT-16 %s takes logprobs and an unknown effort, and lists them', async (model, listed) => {
  const body = { model, messages: saying('Hi'), logprobs: true, top_logprobs: 5, reasoning_effort: 'none' };
  const response = await postChat(gateway, body);
  expect(response.headers.get('x-service-ignored-parameters')?.replaceAll(' ', '')).toBe(listed);
  expect(await response.json()).toMatchObject({ choices: [{ logprobs: null, message: { role: 'assistant' } }] });
});

const shot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } };
const seen = [
  { type: 'text', text: 'shot' },
  { type: 'image_url', image_url: { url: shot } },
];

test.each<[model: string, body: object, sent: object]>([
  [MODEL, {}, { messages: [{}, {}, { role: 'tool' }, { role: 'user' }] }],
  [SOL, overResponses, { input: [{}, {}, { output: [{ type: 'input_text' }, { type: 'input_image' }] }] }],
  [
    'claude-haiku-4-5',
    { tools },
    { messages: [{}, {}, { content: [{ content: [{ type: 'text' }, { type: 'image' }] }] }] },
  ],
  [
    'gemini-3.8-flash',
    { tools },
    { contents: [{}, {}, { parts: [{ functionResponse: { parts: [{ inlineData: {} }] } }] }] },
  ],
])('CHAT-5 %s sees the image of a tool result', async (model, more, sent) => {
  const messages = [
    ...saying('Say hello'),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: seen },
  ];
  const response = await postChat(gateway, { ...more, model, messages });
  expect([response.status, await response.json()]).toMatchObject([200, { object: 'chat.completion' }]);
  expect(vendor.requests.at(-1)?.body).toMatchObject(sent);
});

test('CHAT-10, BILL-18 a response over /v1/responses has every field, its receipt the cached tokens', async () => {
  vendor.next({ claimedUsage: { input: 900, cached: 500, cacheWrite: 300, output: 70, reasoning: 60 } });
  const { data: result, response } = await completions
    .create({ ...overResponses, messages: saying('hello') })
    .withResponse();
  expect(result).toMatchObject({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    model: SOL,
    choices: [{ index: 0, finish_reason: 'stop', logprobs: null, message: { role: 'assistant', refusal: null } }],
    usage: {
      prompt_tokens: 900,
      completion_tokens: 70,
      total_tokens: 970,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 60 },
    },
  });
  const receipt = await fetch(`${gateway.url}/api/usage/${response.headers.get('x-request-id')}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  expect(await receipt.json()).toMatchObject({ usage: { input: 100, cache_read: 500, cache_write: 300 } });
});

test.each<[string, Scenario, string]>([
  ['cut in the middle', { cutAfter: 9 }, 'upstream_error'],
  ['with an error event', { errorAfter: 9 }, 'upstream_error'],
])(
  'CHAT-14, BILL-9 a stream over /v1/responses %s ends with an error, free of charge',
  async (_what, scenario, code) => {
    vendor.next(scenario);
    const { result: events, spent } = await spentBy(gateway, async () =>
      allEvents(await postChat(gateway, { ...overResponses, messages: saying('hello'), stream: true })),
    );
    expect(events.length).toBeGreaterThan(1);
    expect(errorSchema.parse(JSON.parse(events.at(-1) ?? '')).error.code).toBe(code);
    expect(spent).toBe(0n);
  },
);

test('CHAT-14 30 streams that are blocked after content are charged by their usage, with the reason', async () => {
  const priceOf = await pricesOf(gateway, MODEL);
  let priced = 0n;
  const { spent } = await spentBy(gateway, async () => {
    for (let count = 0; count < 30; count += 1) {
      vendor.next({ contentFilterAfter: 3 });
      const body = {
        model: MODEL,
        messages: saying(`story ${count}`),
        stream: true,
        stream_options: { include_usage: true },
      };
      const events = await allEvents(await postChat(gateway, body));
      expect(events.at(-1)).toBe('[DONE]');
      const chunks = chunksOf(events.slice(0, -1));
      const [reason] = chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason }) => finish_reason ?? []));
      expect(reason).toBe('content_filter');
      priced += priceOf(chunks.at(-1)!.usage!);
    }
  });
  expect(spent).toBe(priced);
  expect(spent).toBeGreaterThan(0n);
});

test('CHAT-3, CHAT-11 n: 2 returns two complete texts, plain and streamed, and both are charged', async () => {
  const priceOf = await pricesOf(gateway, MODEL);
  const body = { model: MODEL, messages: saying('twice'), n: 2 };
  const plain = await spentBy(gateway, () => completions.create(body));
  expect(plain.result.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
    [0, 'stop'],
    [1, 'stop'],
  ]);
  expect(plain.spent).toBe(priceOf(plain.result.usage!));
  const streamed = await spentBy(gateway, async () => allEvents(await postChat(gateway, { ...body, stream: true })));
  const chunks = chunksOf(streamed.result.slice(0, -1));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  for (const wanted of [0, 1]) {
    const own = choices.filter(({ index }) => index === wanted);
    expect(own.map(({ delta }) => delta.content ?? '').join('')).toContain('You wrote: twice');
    expect(own.filter(({ finish_reason }) => finish_reason === 'stop')).toHaveLength(1);
  }
  expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
  expect(streamed.spent).toBe(priceOf(chunks.at(-1)!.usage!));
});

test("CHAT-8 json_object needs the word json: the provider's error is forwarded, free of charge", async () => {
  const response_format = { type: 'json_object' as const };
  const ask = (content: string) => completions.create({ model: MODEL, messages: saying(content), response_format });
  const { choices } = await ask('Answer in JSON');
  expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ answer: 'Answer in JSON' });
  const { result: error, spent } = await spentBy(gateway, () => thrownBy(ask('Answer')));
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({
    code: 'invalid_request_error',
    param: 'messages',
    message: expect.stringContaining("must contain the word 'json'"),
  });
  expect(spent).toBe(0n);
});

test.each<[string, string, object, number, string]>([
  ['CHAT-1', 'two caps that differ', { max_tokens: 10, max_completion_tokens: 20 }, 400, 'max_tokens'],
  ['CHAT-1', 'a tool choice without tools', { tool_choice: 'required' }, 400, 'tool_choice'],
  ['CHAT-2', 'an unknown role', { messages: [{ role: 'wizard', content: 'hello' }] }, 400, 'messages[0].role'],
  ['CHAT-3', 'n: 2 on a reasoning model', { model: 'gpt-5.4', n: 2 }, 422, 'n'],
])(
  '%s a request with %s is rejected with the name of the field before the provider call',
  async (_rule, _what, body, status, param) => {
    const response = await postChat(gateway, { messages: saying('hello'), ...body });
    expect([response.status, await readError(response)]).toMatchObject([status, { param }]);
    expect(vendor.requests).toHaveLength(0);
  },
);
