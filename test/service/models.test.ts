import { type APIPromise, NotFoundError } from 'openai';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { MODEL, postChat, readError, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { thrownBy } from '../support/messages-client.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '1000' });
const sdk = sdkFor(gateway);
const catalog = loadCatalog(catalogData);
const served = catalog.list(gateway.now());

test('CAT-1, CAT-7 the SDK lists every enabled model once, without aliases, and gets each one', async () => {
  const models = await Array.fromAsync(sdk.models.list());
  expect(models).toMatchObject(
    served.map(({ id, created, ownedBy }) => ({ id, object: 'model', created, owned_by: ownedBy })),
  );
  expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
  for (const listed of models) expect(await sdk.models.retrieve(listed.id)).toEqual(listed);
});

const pricing = z.looseObject({ prompt: z.string(), completion: z.string() });
const listed = z.looseObject({ id: z.string(), pricing, supported_parameters: z.array(z.string()) });

test('CAT-8 a chat costs its tokens times the listed prices, to the pico-dollar', async () => {
  const { pricing: rates } = listed.parse(await sdk.models.retrieve(MODEL));
  const { result, spent } = await spentBy(gateway, () =>
    sdk.chat.completions.create({ model: MODEL, messages: saying('hello') }),
  );
  const { prompt_tokens: prompt, completion_tokens: completion } = result.usage ?? {};
  if (!prompt || !completion) throw new Error('no usage');
  expect(spent).toBe(BigInt(prompt) * parseUsd(rates.prompt) + BigInt(completion) * parseUsd(rates.completion));
});

const lookup = { type: 'function', function: { name: 'lookup', parameters: { type: 'object', properties: {} } } };
const schema = { type: 'object', properties: {}, additionalProperties: false };
const schemaFormat = { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } };

/** Fields that use each parameter. A model supports the parameter if it accepts one of them. */
const uses: Readonly<Record<string, readonly object[]>> = {
  frequency_penalty: [{ frequency_penalty: 0.5 }],
  logit_bias: [{ logit_bias: { 50256: -100 } }],
  logprobs: [{ logprobs: true }],
  max_completion_tokens: [{ max_completion_tokens: 100 }],
  max_tokens: [{ max_tokens: 100 }],
  parallel_tool_calls: [{ tools: [lookup], parallel_tool_calls: false }],
  presence_penalty: [{ presence_penalty: 0.5 }],
  reasoning_effort: [{ reasoning_effort: 'low' }],
  response_format: [{ response_format: { type: 'json_object' } }, { response_format: schemaFormat }],
  seed: [{ seed: 1 }],
  stop: [{ stop: ['END'] }],
  structured_outputs: [{ response_format: schemaFormat }],
  temperature: [{ temperature: 0.5 }],
  tool_choice: [{ tools: [lookup], tool_choice: 'auto' }],
  tools: [{ tools: [lookup] }],
  top_logprobs: [{ logprobs: true, top_logprobs: 1 }],
  top_p: [{ top_p: 0.5 }],
  verbosity: [{ verbosity: 'low' }],
};

const takes = async (model: string, fields: object): Promise<boolean> => {
  const { status, headers } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'x-service-dry-run': 'true' },
    body: JSON.stringify({ model, messages: saying('{} as JSON'), ...fields }),
  });
  return status === 200 && !headers.has('x-service-ignored-parameters');
};

test('CAT-8 a chat accepts exactly the supported parameters of its model', async () => {
  const chats = served.filter(({ protocols }) => protocols.some((protocol) => protocol === 'chat_completions'));
  for (const { id } of chats) {
    const taken: string[] = [];
    for (const [name, ways] of Object.entries(uses)) {
      const results = await Promise.all(ways.map((fields) => takes(id, fields)));
      if (results.includes(true)) taken.push(name);
    }
    const { supported_parameters: supported } = listed.parse(await sdk.models.retrieve(id));
    expect([id, taken]).toEqual([id, supported]);
  }
});

test('CAT-6 an unknown id is a NotFoundError that names the nearest model', async () => {
  const error = await thrownBy(sdk.models.retrieve('gpt-4.1-mimi'));
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({ code: 'model_not_found', param: 'model', message: expect.stringContaining(MODEL) });
});

test('CAT-4 a disabled model is neither listed nor found nor served', async () => {
  const disabled = catalog.entries.filter((model) => !served.includes(model)).map(({ id }) => id);
  expect(disabled.length).toBeGreaterThan(0);
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  for (const id of disabled) {
    const found = await fetch(`${gateway.url}/v1/models/${id}`, { headers });
    const asked = await postChat(gateway, { model: id, messages: saying('hello') });
    expect([found.status, asked.status]).toEqual([404, 404]);
    expect([(await readError(found)).code, (await readError(asked)).code]).toEqual(Array(2).fill('model_not_found'));
  }
});

test('CAT-2 the price list needs no key, has every listed model, and amounts as strings', async () => {
  const price = z.looseObject({ protocols: z.array(z.string()).min(1), prices_usd: z.record(z.string(), z.string()) });
  const row = z.looseObject({ id: z.string(), kind: z.string(), prices: z.array(price).min(1) });
  const { data } = z.object({ data: z.array(row) }).parse(await (await fetch(`${gateway.url}/api/models`)).json());
  expect(data.map(({ id }) => id)).toEqual(served.map(({ id }) => id));
  const mini = data.find(({ id }) => id === MODEL);
  expect(mini?.prices[0]).toMatchObject({
    protocols: ['chat_completions'],
    from: null,
    when: {},
    prices_usd: { input: '0.0000004', cache_read: '0.0000004', output: '0.0000016', reasoning: '0.0000016' },
  });
});

test('CAT-3 the fallback models of a model are listed without a key', async () => {
  const response = await fetch(`${gateway.url}/api/models/gpt-5.5/fallbacks`);
  expect(await response.json()).toMatchObject({ model: 'gpt-5.5', data: expect.arrayContaining([{ id: 'gpt-5.4' }]) });
});

/** Kinds with a JSON response. Images, audio and videos have their own tests for each model. */
const built: ReadonlySet<string> = new Set(['text', 'embedding', 'moderation']);

type Protocol = (typeof served)[number]['protocols'][number];

/** Shortest request of each protocol. The test of a model uses the request of the model's first protocol. */
const requests: Partial<Record<Protocol, (model: string) => APIPromise<{ readonly model: string }>>> = {
  chat_completions: (model) =>
    sdk.chat.completions.create({ model, messages: saying('hello'), max_completion_tokens: 500 }),
  responses: (model) => sdk.responses.create({ model, input: 'hello', max_output_tokens: 500 }),
  embeddings: (model) => sdk.embeddings.create({ model, input: 'hello' }),
  moderations: (model) => sdk.moderations.create({ model, input: 'hello' }),
};

const sold = served.filter(({ kind }) => built.has(kind));

test.each(sold.map(({ id, kind, protocols: [first] }) => [id, first, kind] as const))(
  'CAT-5 %s responds through its first protocol, %s, with a charge, unless it moderates',
  async (id, protocol, kind) => {
    const request = protocol && requests[protocol];
    if (!request) throw new Error(`no request in ${protocol}`);
    const { result, spent } = await spentBy(gateway, () => request(id).withResponse());
    expect(result.data.model).toBe(id);
    expect(parseUsd(result.response.headers.get('x-service-cost-usd') ?? '')).toBe(spent);
    expect(JSON.stringify(result.data)).toContain(kind === 'text' ? 'You wrote: hello' : id);
    expect(spent > 0n).toBe(kind !== 'moderation');
    expect(vendor.requests.map(({ outcome }) => outcome)).toEqual(['answered']);
  },
);

test('GEN-11 a model of another endpoint is 400 on chat, with the name of its endpoint', async () => {
  const elsewhere = served.filter(({ protocols }) => !protocols.some((protocol) => protocol === 'chat_completions'));
  for (const { id: model } of elsewhere) {
    const response = await postChat(gateway, { model, messages: saying('hello') });
    const message = expect.stringMatching(/\/v1(beta)?\//);
    expect([model, response.status, await readError(response)]).toMatchObject([
      model,
      400,
      { param: 'model', message },
    ]);
  }
});
