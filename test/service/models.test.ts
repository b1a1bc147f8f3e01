import { type APIPromise, NotFoundError } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { MODEL, postChat, readError, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';

let vendor: Simulator;
let gateway: TestGateway;

const catalog = loadCatalog(catalogData);
const served = catalog.list(Date.now());

beforeAll(async () => {
  vendor = await startSimulator();
  // With money and a way to every vendor, only what is not built can make a model unavailable.
  const everyVendor = catalog.providers.flatMap(({ baseUrlVariable, credential }) => [
    [baseUrlVariable, vendor.url],
    [credential.variable, 'vendor-key'],
  ]);
  gateway = await startGateway({
    vendorUrl: vendor.url,
    environment: {
      LOCAL_BALANCE_USD: '1000',
      ...Object.fromEntries(everyVendor),
      OPENAI_BASE_URL: `${vendor.url}/v1`,
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

test('CAT-1 the SDK lists every enabled model once, without aliases', async () => {
  const models = await Array.fromAsync(sdkFor(gateway).models.list());
  expect(models).toEqual(
    served.map(({ id, created, ownedBy }) => ({ id, object: 'model', created, owned_by: ownedBy })),
  );
  expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
});

test('CAT-7 the SDK gets each listed model by its id', async () => {
  const { models } = sdkFor(gateway);
  for (const listed of await Array.fromAsync(models.list())) {
    expect(await models.retrieve(listed.id)).toEqual(listed);
  }
});

test('CAT-6 an unknown id is a NotFoundError', async () => {
  const error: unknown = await sdkFor(gateway)
    .models.retrieve('gpt-4.1-mimi')
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({ code: 'model_not_found', param: 'model', message: expect.stringContaining(MODEL) });
});

const disabled = catalog.entries.filter((model) => !served.includes(model)).map(({ id }) => id);

test('CAT-4 a disabled model is neither listed nor found nor served', async () => {
  expect(disabled.length).toBeGreaterThan(0);
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  for (const id of disabled) {
    const found = await fetch(`${gateway.url}/v1/models/${id}`, { headers });
    const asked = await postChat(gateway, { model: id, messages: saying('hello') });
    expect([found.status, asked.status]).toEqual([404, 404]);
    expect((await readError(found)).code).toBe('model_not_found');
    expect((await readError(asked)).code).toBe('model_not_found');
  }
});

const priceSchema = z.object({
  object: z.literal('list'),
  data: z.array(
    z.strictObject({
      id: z.string(),
      kind: z.string(),
      owned_by: z.string(),
      protocols: z.array(z.string()).min(1),
      prices: z
        .array(
          z.looseObject({
            unit: z.string(),
            from: z.string().nullable(),
            until: z.string().nullable(),
            tiers: z.array(z.looseObject({ above_input_tokens: z.int() })),
          }),
        )
        .min(1),
      limits: z.record(z.string(), z.unknown()),
      capabilities: z.record(z.string(), z.unknown()),
      reasoning: z.strictObject({ levels: z.array(z.string()) }),
      lifecycle: z.looseObject({}),
    }),
  ),
});

test('CAT-2 the price list needs no key, has every listed model, and money as strings', async () => {
  const response = await fetch(`${gateway.url}/api/models`);
  const text = await response.text();
  const { data } = priceSchema.parse(JSON.parse(text));
  expect(data.map(({ id }) => id)).toEqual(served.map(({ id }) => id));
  const mini = data.find(({ id }) => id === MODEL);
  expect(mini?.prices[0]).toMatchObject({ unit: '1M_tokens', input: expect.any(String), output: expect.any(String) });
});

/** Kinds whose answers come as JSON at once; images, audio and videos have tests of their own for each model. */
const built: ReadonlySet<string> = new Set(['text', 'embedding', 'moderation']);

type Protocol = (typeof served)[number]['protocols'][number];

/** The shortest request of each protocol that is some model's first. */
const requests: Partial<Record<Protocol, (model: string) => Promise<Answered>>> = {
  chat_completions: (model) =>
    answerOf(sdkFor(gateway).chat.completions.create({ model, messages: saying('hello'), max_completion_tokens: 500 })),
  responses: (model) => answerOf(sdkFor(gateway).responses.create({ model, input: 'hello', max_output_tokens: 500 })),
  embeddings: (model) => answerOf(sdkFor(gateway).embeddings.create({ model, input: 'hello' })),
  moderations: (model) => answerOf(sdkFor(gateway).moderations.create({ model, input: 'hello' })),
};

interface Answered {
  readonly model: string;
  readonly text: string;
  readonly costPicos: bigint;
}

async function answerOf(pending: APIPromise<{ readonly model: string }>): Promise<Answered> {
  const { data, response } = await pending.withResponse();
  const costPicos = parseUsd(response.headers.get('x-service-cost-usd') ?? '');
  return { model: data.model, text: JSON.stringify(data), costPicos };
}

const isFree = (id: string): boolean =>
  served.find((model) => model.id === id)?.prices.every(({ rates }) => Object.values(rates).every((rate) => !rate)) ??
  false;

const sold = served.filter(({ kind }) => built.has(kind));

test.each(sold.map(({ id, kind, protocols: [first] }) => [id, first, kind] as const))(
  'CAT-5 %s answers through its first protocol, %s, with a charge',
  async (id, protocol, kind) => {
    const request = protocol && requests[protocol];
    if (!request) throw new Error(`nothing is asked in ${protocol}`);
    const { result, spent } = await spentBy(gateway, () => request(id));
    expect(result).toMatchObject({ model: id, costPicos: spent });
    expect(result.text).toContain(kind === 'text' ? 'You wrote: hello' : id);
    expect(spent > 0n).toBe(!isFree(id));
    expect(vendor.requests.map(({ outcome }) => outcome)).toEqual(['answered']);
  },
);

test('CAT-5 what is free is a moderation, and nothing else', () => {
  const free = sold.filter(({ id }) => isFree(id));
  expect(free.map(({ kind }) => kind)).toEqual(['moderation']);
});

const notForChat = served.filter(({ protocols }) => !protocols.some((protocol) => protocol === 'chat_completions'));

test.each(notForChat.map(({ id }) => id))('GEN-11 %s is not for chat: 400 that names its endpoint', async (id) => {
  const response = await postChat(gateway, { model: id, messages: saying('hello') });
  expect(response.status).toBe(400);
  const error = await readError(response);
  expect(error).toMatchObject({ code: 'invalid_request_error', param: 'model' });
  expect(error.message).toMatch(/\/v1(beta)?\//);
});
