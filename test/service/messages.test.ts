import type Anthropic from '@anthropic-ai/sdk';
import { BadRequestError } from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { spentBy } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import {
  anthropicFor,
  ask,
  asking,
  HAIKU,
  messagePrices,
  postMessages,
  readMessageError,
  thrownBy,
} from '../support/messages-client.ts';
import { vendorKey } from '../support/vendor-environment.ts';
import { penniless, startSimulated } from './simulated-gateway.ts';

const { vendor, gateway, another } = await startSimulated();
const poor = await another(penniless);
const client = anthropicFor(gateway);
const priceOf = await messagePrices(gateway, HAIKU);

const OPUS = 'claude-opus-5';
const OPUS_WITH_OWN_READ_RATE = 'claude-opus-5-5';

test('MSG-6 the SDK reads the request id and the cost of a plain response', async () => {
  const { result, spent } = await spentBy(gateway, () => client.messages.create(ask).withResponse());
  const { data, response, request_id } = result;
  expect(request_id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(request_id).toBe(response.headers.get('x-request-id'));
  expect(response.headers.get('x-service-cost-usd')).toBe(formatUsd(spent));
  expect(spent).toBe(priceOf(data.usage));
});

test('MSG-6 the SDK gets a stream with all its events, charged by the final usage', async () => {
  const heard: string[] = [];
  const hear = (name: string) => () => void (heard.at(-1) !== name && heard.push(name));
  const { result, spent } = await spentBy(gateway, async () => {
    const stream = client.messages.stream({ ...ask, system: 'Be brief.' });
    for (const name of ['connect', 'text', 'contentBlock', 'message', 'finalMessage', 'end'] as const)
      stream.on(name, hear(name));
    stream.on('streamEvent', hear('streamEvent'));
    const types = (await Array.fromAsync(stream)).map(({ type }) => type);
    return { types, message: await stream.finalMessage(), requestId: stream.request_id };
  });
  const { types, message, requestId } = result;
  expect([...new Set(types)]).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
  expect([...new Set(heard)]).toEqual([
    'connect',
    'streamEvent',
    'text',
    'contentBlock',
    'message',
    'finalMessage',
    'end',
  ]);
  expect(message.content).toMatchObject([{ type: 'text', text: expect.stringContaining('You wrote: hello') }]);
  expect(requestId).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(spent).toBe(priceOf(message.usage));
});

test("MSG-6 the SDK's tool runner works from the question to the result", async () => {
  const asked: string[] = [];
  const weather = betaZodTool({
    name: 'weather',
    description: 'The weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    run: ({ city }) => {
      asked.push(city);
      return 'sunny';
    },
  });
  const { result, spent } = await spentBy(gateway, async () => {
    const messages = asking('How is the weather in Paris and in Tokyo?');
    return Array.fromAsync(client.beta.messages.toolRunner({ ...ask, messages, tools: [weather] }));
  });
  expect(asked).toEqual(['Paris', 'Tokyo']);
  expect(result.at(-1)?.content).toMatchObject([{ text: 'According to the tool: sunny; sunny' }]);
  expect(spent).toBe(result.reduce((sum, { usage }) => sum + priceOf(usage), 0n));
});

test('MSG-6 the SDK parses a response with a zod schema and a JSON schema', async () => {
  const person = z.object({ name: z.string(), age: z.int() });
  const json = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
    additionalProperties: false,
  } as const;
  const byZod = { ...ask, output_config: { format: zodOutputFormat(person) } };
  const parsed = [
    await client.messages.parse(byZod),
    await client.messages.stream(byZod).finalMessage(),
    await client.messages.parse({ ...ask, output_config: { format: jsonSchemaOutputFormat(json) } }),
  ];
  for (const { parsed_output } of parsed) expect(person.safeParse(parsed_output).success).toBe(true);
});

const minutes = { type: 'ephemeral' as const };
const hour = { type: 'ephemeral' as const, ttl: '1h' as const };
const rules = (name: string): string => `Rules of ${name}. ${'Be brief and kind. '.repeat(60)}`;

test('MSG-1, MSG-5, BILL-6 the provider gets the body unchanged, with cache_control and order', async () => {
  const body = {
    top_k: 7,
    cache_control: minutes,
    temperature: 0.25,
    tools: [{ name: 'now', input_schema: { type: 'object' as const }, cache_control: hour }],
    tool_choice: { type: 'none' as const },
    system: [{ type: 'text', text: rules('everywhere'), cache_control: hour }],
    metadata: { user_id: 'user-7' },
    service_tier: 'auto',
    ...ask,
    messages: [
      ...asking('What time is it?'),
      { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'now', input: {} }] },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'noon', cache_control: minutes }],
      },
    ],
  };
  const response = await postMessages(gateway, body);
  expect(response.status).toBe(200);
  expect(Buffer.from(vendor.requests[0]!.bytes).toString()).toBe(JSON.stringify({ ...ask, ...body }));
});

test.each([OPUS_WITH_OWN_READ_RATE, HAIKU])(
  'BILL-12, MSG-5 three turns with %s write to the cache, then read, at its own rates',
  async (model) => {
    const priceOfModel = await messagePrices(gateway, model);
    const system = [{ type: 'text' as const, text: rules(model), cache_control: hour }];
    const messages: Anthropic.MessageParam[] = [];
    const counts = [];
    for (const turn of ['one', 'two', 'three']) {
      const text = `${turn} of ${model}. ${'And so on. '.repeat(30)}`;
      messages.push({ role: 'user', content: [{ type: 'text', text, cache_control: minutes }] });
      const body = { ...ask, model, system, messages };
      const { result, spent } = await spentBy(gateway, () =>
        turn === 'two' ? client.messages.stream(body).finalMessage() : client.messages.create(body),
      );
      const { usage } = result;
      expect(spent).toBe(priceOfModel(usage));
      counts.push({
        read: usage.cache_read_input_tokens ?? -1,
        short: usage.cache_creation?.ephemeral_5m_input_tokens ?? -1,
        long: usage.cache_creation?.ephemeral_1h_input_tokens ?? -1,
      });
      messages.push({ role: 'assistant', content: result.content });
    }
    const [first, second, third] = counts;
    expect(first?.read).toBe(0);
    expect(Math.min(first!.short, first!.long, second!.short, third!.short)).toBeGreaterThan(0);
    expect(second).toMatchObject({ read: first!.short + first!.long, long: 0 });
    expect(third).toMatchObject({ read: second!.read + second!.short, long: 0 });
  },
);

test('BILL-5 the hold of a prompt covers its cache write', async () => {
  const heldFor = async (cache_control?: typeof minutes | typeof hour): Promise<bigint> => {
    const gate = vendor.gate();
    const system = [{ type: 'text' as const, text: rules('the hold'), ...(cache_control && { cache_control }) }];
    const pending = client.messages.create({ ...ask, max_tokens: 1, system });
    await within('the request at the provider', gate.waitFor(1));
    const { held } = await gateway.account();
    gate.open();
    await pending;
    await gateway.untilSettled();
    vendor.reset();
    return held;
  };
  const [plain, short, long] = [await heldFor(), await heldFor(minutes), await heldFor(hour)];
  // The ratios are not exact, because the marker itself adds some bytes to the body.
  expect(Number(short) / Number(plain)).toBeGreaterThanOrEqual(1.24);
  expect(Number(long) / Number(plain)).toBeGreaterThanOrEqual(1.99);
});

const summarized = { type: 'adaptive' as const, display: 'summarized' as const };
const models = loadCatalog(catalogData)
  .list(gateway.now())
  .flatMap((model) => (model.kind === 'text' && model.protocols.includes('messages') ? [model] : []));
const adaptive = models.filter(({ thinking }) => thinking?.adaptive).map(({ id }) => id);

test.each(adaptive)('MSG-3 %s-thinking is the model with its thinking summarized', async (id) => {
  const priceOfModel = await messagePrices(gateway, id);
  const { result, spent } = await spentBy(gateway, () => client.messages.create({ ...ask, model: `${id}-thinking` }));
  expect(result.model).toBe(id);
  expect(result.content).toMatchObject([{ type: 'thinking', thinking: expect.stringMatching(/./) }, { type: 'text' }]);
  expect(vendor.requests[0]?.body).toMatchObject({ model: id, thinking: summarized });
  expect(result.usage.output_tokens_details?.thinking_tokens).toBeGreaterThan(0);
  expect(spent).toBe(priceOfModel(result.usage));
});

test('MSG-3 a -thinking model accepts a tool choice that requires a call', async () => {
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
  for (const id of ['claude-haiku-4-5', OPUS]) {
    const body = { ...ask, model: `${id}-thinking`, tools, tool_choice: { type: 'any' as const } };
    expect(await client.messages.create(body)).toMatchObject({ stop_reason: 'tool_use' });
  }
});

test("MSG-2, MSG-4 a model with efforts gets the client's effort; a budget is 400 with a field", async () => {
  await client.messages.create({ ...ask, model: OPUS, output_config: { effort: 'low' } });
  expect(vendor.requests[0]?.body).toMatchObject({ output_config: { effort: 'low' } });
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const { result, spent } = await spentBy(gateway, () =>
    postMessages(gateway, { model: OPUS, max_tokens: 2_000, thinking }),
  );
  expect([result.status, await readMessageError(result)]).toMatchObject([400, { param: 'thinking.type' }]);
  expect([vendor.requests.length, spent]).toEqual([1, 0n]);
});

test.each([
  ['adaptive thinking', { model: OPUS, thinking: summarized }],
  ['a budget', { model: HAIKU, max_tokens: 3_000, thinking: { type: 'enabled' as const, budget_tokens: 1_024 } }],
])('MSG-6 with %s, thinking can be sent back with its signature in the next turn', async (_how, how) => {
  const tools: Anthropic.Tool[] = [{ name: 'now', input_schema: { type: 'object', properties: {} } }];
  const body = { ...ask, ...how, tools, messages: asking('What time is it?') };
  const stream = client.messages.stream(body);
  const heard = { thinking: '', signature: '' };
  stream.on('thinking', (delta) => {
    heard.thinking += delta;
  });
  stream.on('signature', (whole) => {
    heard.signature = whole;
  });
  const first = await stream.finalMessage();
  expect(first.content).toMatchObject([{ type: 'thinking', ...heard }, { type: 'tool_use' }]);
  const calls = first.content.filter((block) => block.type === 'tool_use');
  const results = calls.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'noon' }));
  const turns: Anthropic.MessageParam[] = [
    ...body.messages,
    { role: 'assistant', content: first.content },
    { role: 'user', content: results },
  ];
  const second = await client.messages.create({ ...body, messages: turns });
  expect(second.content.at(-1)).toMatchObject({ type: 'text', text: 'According to the tool: noon' });
  expect(vendor.requests[1]?.body).toMatchObject({ messages: turns });

  const forged = first.content.map((block) =>
    block.type === 'thinking' ? { ...block, signature: 'Zm9yZ2Vk' } : block,
  );
  const refused = { ...body, messages: turns.with(1, { role: 'assistant', content: forged }) };
  const { result: error, spent } = await spentBy(gateway, () => thrownBy(client.messages.create(refused)));
  expect(error).toBeInstanceOf(BadRequestError);
  // GEN-4: the message of the provider, with the client's field name.
  expect(error).toMatchObject({
    error: { error: { param: 'messages[1].content[0]', message: expect.stringContaining('Invalid `signature`') } },
  });
  expect(spent).toBe(0n);
});

const count = (headers: Readonly<Record<string, string>>) => {
  const { max_tokens: _, ...body } = ask;
  return fetch(`${gateway.url}/v1/messages/count_tokens`, { method: 'POST', headers, body: JSON.stringify(body) });
};

test.each([
  ['a message', (headers: Readonly<Record<string, string>>) => postMessages(gateway, {}, headers)],
  ['counting', count],
])('AUTH-2 %s needs the version in one of two headers', async (_what, send) => {
  for (const [name, version] of [
    ['provider-version', '2023-06-01'],
    ['anthropic-version', '2026-10-21'],
  ] as const) {
    expect((await send({ 'x-api-key': gateway.apiKey, [name]: version })).status).toBe(200);
    expect(vendor.requests.at(-1)?.headers['anthropic-version']).toBe('2023-06-01');
  }
  const refused = await send({ 'x-api-key': gateway.apiKey });
  expect([refused.status, await readMessageError(refused)]).toMatchObject([400, { param: 'anthropic-version' }]);
  expect(vendor.requests).toHaveLength(2);
});

test("MSG-7, AUTH-2 the SDK's beta client works, without its beta for a larger context", async () => {
  const message = await client.beta.messages.create({ ...ask, betas: ['context-1m-2025-08-07'] });
  expect(message).toMatchObject({ model: HAIKU, stop_reason: 'end_turn' });
  const { headers, query } = vendor.requests[0]!;
  expect(headers).toMatchObject({ 'x-api-key': vendorKey, 'anthropic-version': '2023-06-01' });
  expect(String(query)).toBe('');
  expect(
    Object.keys(headers).filter((name) => /^anthropic-(?!version$)|^x-stainless|^authorization$/.test(name)),
  ).toEqual([]);
  expect(JSON.stringify(headers)).not.toContain(gateway.apiKey);
});

/** A turn like one of Claude Code, with fields that the gateway ignores. */
const tools = [{ name: 'DeferredToolPlaceholder', input_schema: { type: 'object' } }];
const turn = {
  model: OPUS,
  max_tokens: 32_000,
  system: [{ type: 'text', text: 'Be brief.', cache_control: hour }],
  thinking: { type: 'adaptive', display: 'omitted' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'high' },
  tool_choice: { type: 'none' },
};
const history = [
  ...asking('hello'),
  { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
  { role: 'user', content: 'Be quick.' },
];
const effortOfTurn = { role: 'system', content: [], output_config: { effort: 'low' } };
const ofClaudeCode = {
  'x-app': 'cli',
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,context-management-2025-06-27,prompt-caching-scope-2026-01-05,per-turn-control-2026-07-01, effort-2025-11-24',
};

const answeredWithNull = [{ type: 'text', text: 'Hello.', citations: null }];

test('MSG-7, GEN-16 a turn of Claude Code: header, receipt, and body at the provider', async () => {
  const sent = {
    ...turn,
    system: [{ ...turn.system[0], cache_control: { ...hour, scope: 'global' } }],
    tools: [{ ...tools[0], defer_loading: true }],
    metadata: { user_id: 'u'.repeat(300) },
    diagnostics: { previous_message_id: null },
    container: null,
    messages: [...history.with(1, { role: 'assistant', content: answeredWithNull }), effortOfTurn],
  };
  const ignored = [
    'anthropic-beta.prompt-caching-scope-2026-01-05',
    'diagnostics',
    'metadata.user_id',
    'system[].cache_control.scope',
    'tools[].defer_loading',
  ];
  const send = (more: Readonly<Record<string, string>> = {}) =>
    fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.apiKey, ...ofClaudeCode, ...more },
      body: JSON.stringify(sent),
    });
  const response = await send();
  expect([response.status, response.headers.get('x-service-ignored-parameters')]).toEqual([200, ignored.join(',')]);
  const { headers, body, path } = vendor.requests[0]!;
  expect([path, body]).toEqual([
    '/v1/messages',
    { ...turn, tools, metadata: {}, messages: [...history, effortOfTurn] },
  ]);
  expect(headers['anthropic-beta']).toBe(
    'claude-code-20250219,context-management-2025-06-27,per-turn-control-2026-07-01,effort-2025-11-24',
  );
  expect(Object.keys(headers).filter((name) => /^x-app$|browser|query/.test(name))).toEqual([]);
  await gateway.untilSettled();
  const id = response.headers.get('x-request-id');
  const receipt = await fetch(`${gateway.url}/api/usage/${id}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  expect(await receipt.json()).toMatchObject({ outcome: 'charged', ignored });
  const strict = await send({ 'x-service-require-parameters': 'true' });
  expect([strict.status, await readMessageError(strict)]).toMatchObject([400, { param: ignored[0] }]);
  expect(vendor.requests).toHaveLength(1);
});

const pdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n').toString('base64');
const pdfDocument = {
  type: 'document' as const,
  source: { type: 'base64' as const, media_type: 'application/pdf' as const, data: pdf },
};

test('BILL-5, MSG-1 a PDF document is held at the whole context and charged by its tokens', async () => {
  const body = {
    ...ask,
    messages: [{ role: 'user' as const, content: [pdfDocument, { type: 'text' as const, text: 'What is this?' }] }],
  };
  const dry = await postMessages(gateway, body, {
    'x-api-key': gateway.apiKey,
    'provider-version': '2023-06-01',
    'x-service-dry-run': 'true',
  });
  const held = z.object({ hold_usd: z.string() }).parse(await dry.json()).hold_usd;
  // 200,000 tokens at 1 USD and 500 at 5 USD per million.
  expect(held).toBe('0.2025');
  const { result, spent } = await spentBy(gateway, () => client.messages.create(body));
  expect(spent).toBe(priceOf(result.usage));
  expect(vendor.requests[0]?.body).toMatchObject(body);
});

test('MSG-1 memory, bash and editor tools reach the provider, a search tool does not', async () => {
  const own = [
    { type: 'bash_20250124' as const, name: 'bash' as const },
    { type: 'text_editor_20250728' as const, name: 'str_replace_based_edit_tool' as const },
    { type: 'memory_20250818' as const, name: 'memory' as const },
  ];
  const message = await client.messages.create({ ...ask, tools: own, tool_choice: { type: 'none' } });
  expect(message.stop_reason).toBe('end_turn');
  expect(vendor.requests[0]?.body).toMatchObject({ tools: own });
  const refused = await postMessages(gateway, { tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
  expect([refused.status, await readMessageError(refused)]).toMatchObject([400, { param: 'tools[0].type' }]);
});

test('GEN-3, GEN-4 every error below /v1/messages has its format, with the id of its headers', async () => {
  const send = (path: string, init: RequestInit) => fetch(`${gateway.url}${path}`, init);
  const headers = { 'x-api-key': gateway.apiKey, 'provider-version': '2023-06-01', 'request-id': 'mine' };
  const responses = await Promise.all([
    send('/v1/messages', { method: 'POST', body: '{}' }),
    send('/v1/messages', { method: 'POST', headers, body: '{' }),
    send('/v1/messages', { headers }),
    send('/v1/messages/batches', { method: 'POST', headers, body: '{}' }),
    send('/v1/messages/count_tokens', { method: 'POST', headers, body: '{}' }),
    send('/v1/messages', { method: 'POST', headers: { ...headers, 'content-encoding': 'deflate' }, body: '{}' }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([401, 400, 405, 404, 400, 415]);
  for (const response of responses) expect((await readMessageError(response)).message).not.toBe('');
});

test('BILL-17, AUTH-4 the SDK counts the tokens of a message free of charge, without a balance', async () => {
  const prompt = { model: `${OPUS}-thinking`, system: 'Be brief.', messages: asking('How is the weather?') };
  const gate = vendor.gate();
  const pending = anthropicFor(poor).messages.countTokens(prompt);
  await gate.waitFor(1);
  expect(await poor.account()).toMatchObject({ balance: 0n, held: 0n, openHolds: 0 });
  gate.open();
  const { usage } = await client.messages.create({ ...prompt, max_tokens: 100 });
  expect(await pending).toEqual({ input_tokens: usage.input_tokens });
  expect(vendor.requests.map(({ path }) => path)).toEqual(['/v1/messages/count_tokens', '/v1/messages']);
  expect(vendor.requests[0]?.headers).toMatchObject({ 'x-api-key': vendorKey });
  expect(vendor.requests[0]?.body).toMatchObject({ ...prompt, model: OPUS });
});

test('CAT-7 the SDK lists the models of this protocol, newest first, in pages, and gets each one', async () => {
  const listed = await Array.fromAsync(anthropicFor(poor).models.list({ limit: 3 }));
  expect(listed.map(({ id }) => id).toSorted()).toEqual(models.map(({ id }) => id).toSorted());
  const created = listed.map(({ created_at }) => created_at);
  expect(created).toEqual(created.toSorted().reverse());
  for (const model of listed) expect(await client.models.retrieve(model.id)).toEqual(model);
  expect(await thrownBy(client.models.retrieve('gpt-4.1-mini'))).toMatchObject({ status: 404 });
});

test('ERR-9 the SDK sees an overload of the provider, plain and before a stream', async () => {
  for (const stream of [false, true]) {
    vendor.next({ refusal: { kind: 'status', status: 529 } });
    const error = await thrownBy(client.messages.create({ ...ask, stream }));
    expect(error).toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } });
  }
});
