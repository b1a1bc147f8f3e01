import { zodTextFormat } from 'openai/helpers/zod';
import type { ResponseInput, ResponseOutputItem } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { postChat, pricesOf, readError, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { allNamedEvents, countsOf, PRO, postResponses } from '../support/responses-client.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '100' });
const priceOf = await pricesOf(gateway, PRO);
const { responses } = sdkFor(gateway);

const texts = loadCatalog(catalogData)
  .list(gateway.now())
  .filter((model) => model.kind === 'text');

test('RESP-2 a model is served on /v1/responses or rejected with the name of its own endpoint', async () => {
  for (const { id: model, protocols } of texts) {
    const here = await postResponses(gateway, { model, input: 'hello', max_output_tokens: 100 });
    const chat = await postChat(gateway, { model, messages: saying('hello'), max_completion_tokens: 100 });
    for (const [response, protocol, elsewhere] of [
      [here, 'responses', /\/v1\/(chat\/completions|messages)|\/v1beta\//],
      [chat, 'chat_completions', /\/v1\//],
    ] as const) {
      const served = protocols.includes(protocol);
      expect([model, protocol, response.status]).toEqual([model, protocol, served ? 200 : 400]);
      if (served) await response.text();
      else
        expect(await readError(response)).toMatchObject({ param: 'model', message: expect.stringMatching(elsewhere) });
    }
  }
});

test('RESP-3, RESP-4, GEN-9 the provider gets the body unchanged, except that store is false', async () => {
  const harmless = {
    metadata: { a: 'b' },
    user: 'end-user-7',
    prompt_cache_key: 'd',
    service_tier: 'default',
    text: { verbosity: 'low' },
    reasoning: { effort: 'xhigh', summary: 'auto' },
  };
  const response = await postResponses(gateway, { input: 'hello', ...harmless, temperature: 1, background: false });
  expect(await response.json()).toMatchObject({ metadata: { a: 'b' }, reasoning: { effort: 'xhigh' } });
  expect(vendor.requests[0]?.body).toMatchObject({ ...harmless, store: false });
  // The provider rejects this field on this model; the value is its default.
  expect(vendor.requests[0]?.body).not.toHaveProperty('temperature');
});

test('RESP-3, RESP-4 unsupported fields get errors that name them, without a provider call', async () => {
  for (const [param, value, code] of [
    ['previous_response_id', 'resp_1', 'unsupported_parameter'],
    ['store', true, 'unsupported_parameter'],
    ['reasoning.effort', { effort: 'low' }, 'invalid_request_error'],
  ] as const) {
    const response = await postResponses(gateway, { input: 'hello', [param.replace(/\..*/, '')]: value });
    expect([response.status, await readError(response)]).toMatchObject([400, { code, param }]);
  }
  expect(vendor.requests).toHaveLength(0);
});

test('RESP-1 files in messages and in results of functions reach the provider, and the hold covers them', async () => {
  const file = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' };
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'Say hello' }, file] },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: [file] },
  ];
  const { result, spent } = await spentBy(gateway, () => postResponses(gateway, { input }));
  expect(result.status).toBe(200);
  expect(vendor.requests.at(-1)?.body).toMatchObject({ input });
  const { usage } = await result.json();
  expect(spent).toBe(priceOf(countsOf(usage)));
});

test('RESP-1 responses.parse of the SDK reads a zod schema', async () => {
  const person = z.strictObject({ name: z.string(), age: z.int() });
  const format = zodTextFormat(person, 'person');
  const { result, spent } = await spentBy(gateway, () =>
    responses.parse({ model: PRO, input: 'Invent a person', text: { format } }),
  );
  expect(person.parse(result.output_parsed)).toBeDefined();
  expect(vendor.requests[0]?.body).toMatchObject({ text: { format: { type: 'json_schema', strict: true } } });
  expect(spent).toBe(priceOf(countsOf(result.usage)));
});

const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } };

test.each<[string, object]>([
  ['a text with a summary of its reasoning', { reasoning: { summary: 'auto' } }],
  ['a call', { tools: [weather] }],
])("RESP-1 the stream of %s has all of the provider's events, in their order", async (_what, rest) => {
  const body = { input: 'Say hello', stream: true, ...rest };
  const { result: events, spent } = await spentBy(gateway, async () =>
    allNamedEvents(await postResponses(gateway, body)),
  );
  const direct = { url: vendor.url, apiKey: 'x' };
  const theirs = await allNamedEvents(await postResponses(direct, { ...body, store: false }));
  expect(events.map((event) => [event.type, Object.keys(event)])).toEqual(
    theirs.map((event) => [event.type, Object.keys(event)]),
  );
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { model: PRO } });
  expect(spent).toBe(priceOf(countsOf(events.at(-1)?.response?.usage)));
});

/** Returns outputs unchanged. The types of the SDK allow only some items as input. */
const back = (output: readonly ResponseOutputItem[]) =>
  output.map((item) => {
    if (item.type === 'message' || item.type === 'reasoning' || item.type === 'function_call') return item;
    throw new Error(`an item of the type ${item.type}`);
  });
const typesOf = (items: readonly { type?: string; role?: string }[]) => items.map(({ type, role }) => type ?? role);
const itemsSchema = z.object({
  input: z.array(z.looseObject({ type: z.string().optional(), role: z.string().optional() })),
});

test('RESP-5 a conversation with unchanged earlier outputs is accepted by the provider', async () => {
  const sealed = { model: PRO, include: ['reasoning.encrypted_content' as const] };
  const { result, spent } = await spentBy(gateway, async () => {
    const input: ResponseInput = [];
    const answers = [];
    for (const words of ['My name is Ada', 'What is my name?', 'And again?']) {
      input.push(...saying(words));
      const streamed = words === 'What is my name?';
      const answer = streamed
        ? await responses.stream({ ...sealed, input }).finalResponse()
        : await responses.create({ ...sealed, input });
      expect(typesOf(answer.output)).toEqual(['message', 'reasoning']);
      expect(answer.output_text).toContain(`You wrote: ${words}`);
      input.push(...back(answer.output));
      answers.push(answer);
    }
    return answers;
  });
  const sent = itemsSchema.parse(vendor.requests.at(-1)?.body).input;
  expect(typesOf(sent)).toEqual(['user', 'reasoning', 'message', 'user', 'reasoning', 'message', 'user']);
  expect(spent).toBe(result.reduce((sum, { usage }) => sum + priceOf(countsOf(usage)), 0n));
});

test('RESP-5 commentary follows the final answer, and goes back to the provider before it', async () => {
  const input = saying('[[commentary]] Which town?');
  for (const stream of [false, true]) {
    const params = { model: PRO, input };
    const { output } = stream ? await responses.stream(params).finalResponse() : await responses.create(params);
    const phases = output.map((item) => ('phase' in item ? item.phase : item.type));
    expect(phases).toEqual(['final_answer', 'reasoning', 'commentary']);
    await responses.create({ model: PRO, input: [...input, ...back(output), ...saying('And now?')] });
    const sent = itemsSchema.parse(vendor.requests.at(-1)?.body).input.slice(1, -1);
    expect(sent.map(({ type, phase }) => phase ?? type)).toEqual(['reasoning', 'commentary', 'final_answer']);
  }
});

test('RESP-5 a response that was cut off during reasoning can be sent back', async () => {
  const input = saying('[[reasoning 50]] Think');
  const first = await responses.create({ model: PRO, input, max_output_tokens: 20 });
  expect([first.status, typesOf(first.output)]).toEqual(['incomplete', ['reasoning']]);
  const { output_text } = await responses.create({
    model: PRO,
    input: [...input, ...back(first.output), ...saying('Say hello')],
  });
  expect(output_text).toContain('Say hello');
});

test('RESP-5 outputs of a request without include can be sent back, also as SDKs dump them', async () => {
  const first = await responses.create({ model: PRO, input: 'hello' });
  const items = back(first.output).map((item) => ('summary' in item ? { ...item, content: null, status: null } : item));
  const body = { input: [...saying('hello'), ...items, ...saying('again')], tools: null, user: null, text: null };
  expect((await postResponses(gateway, body)).status).toBe(200);
});
