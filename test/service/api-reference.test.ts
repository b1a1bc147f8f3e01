import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { monthOf } from '../../lambdas/core/ledger/month.ts';
import { DRY_RUN_TYPE } from '../../lambdas/protocols/paid-response.ts';
import { type Route, type RouteName, routes } from '../../lambdas/routes.ts';
import { contentModelList, messagesModelList } from '../../reference/answers/models.ts';
import { operations } from '../../reference/operations.ts';
import { dryRunAnswer } from '../../reference/to-operation.ts';
import { until } from '../support/gateway-process.ts';
import { readError } from '../support/hostile-oracle.ts';
import {
  answerOf,
  type ReferenceAnswer,
  type ReferenceRow,
  readReference,
  rowsOf,
} from '../support/reference-document.ts';
import { startReferenceCustomer } from './reference-customer.ts';

const document = readReference();
const rows = rowsOf(document);

const customer = await startReferenceCustomer();
afterAll(() => customer.stop());

const rowOf = (name: RouteName): ReferenceRow => {
  const row = rows.find(({ operation }) => operation.operationId === name);
  if (!row) throw new Error(`${name} is not described`);
  return row;
};

const isRoute = (name: string): name is RouteName => name in routes;

const contentOf = (name: string, status: string, contentType: string) =>
  isRoute(name) ? operations[name].answers[status]?.content[contentType] : undefined;

/** Parses the data of server-sent events, without the end marker. */
const eventsIn = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));

/** Returns the gateway's headers that the document does not describe. */
const undescribed = (answer: ReferenceAnswer | undefined, { headers }: Response): readonly string[] => {
  const known = new Set(Object.keys(answer?.headers ?? {}).map((header) => header.toLowerCase()));
  return [...headers.keys()].filter(
    (header) => /^(?:x-service|x-ratelimit|x-request|request-id|idempotent|retry)/.test(header) && !known.has(header),
  );
};

/** Checks that status, content type, headers and body are described. */
const expectDescribed = async ({ operation }: ReferenceRow, response: Response): Promise<unknown> => {
  const text = await response.text();
  const context = `${operation.operationId} ${response.status} ${text.slice(0, 500)}`;
  expect(response.ok, context).toBe(true);
  const status = String(response.status);
  const answer = answerOf(document, operation, status);
  const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
  expect(Object.keys(answer?.content ?? {}), context).toContain(contentType);
  expect(undescribed(answer, response), context).toEqual([]);
  const { schema, event } = contentOf(operation.operationId, status, contentType) ?? {};
  if (event) {
    const events = eventsIn(text);
    expect(events.length, context).toBeGreaterThan(1);
    for (const each of events) event.parse(each);
  }
  if (contentType !== 'application/json') return text;
  const body: unknown = JSON.parse(text);
  if (schema instanceof z.ZodType) schema.parse(body);
  return body;
};

const idIn = (body: unknown): string => z.looseObject({ id: z.string() }).parse(body).id;

/** Fills in values that an example cannot know. */
const known: Record<string, (value: z.infer<typeof json>) => Promise<z.infer<typeof json>>> = {
  creditAccount: async (value) => ({ ...value, account: idIn(await appAccount()) }),
  rotateKey: async (value) => ({
    ...value,
    key_id: idIn(z.looseObject({ key: z.json() }).parse(await appAccount()).key),
  }),
};
/** Ids in the path that an example cannot know. */
const paths: Record<string, () => Promise<Record<string, string>>> = {
  editKey: async () => ({ id: await newKeyId('createKey') }),
  editAppKey: async () => ({ id: await newKeyId('createAppKey') }),
};
const newKeyId = async (route: 'createKey' | 'createAppKey'): Promise<string> =>
  idIn(await (await customer.send(rowOf(route), { value: { name: 'To change' } })).json());
const json = z.record(z.string(), z.json());
const appAccount = async () => (await customer.send(rowOf('getAppAccount'))).json();

/** Examples in document order, except that the bot update comes first: it creates the account of the mini app. */
const examples = rows
  .toSorted((one, other) => Number(other.path === '/bot') - Number(one.path === '/bot'))
  .flatMap((row) =>
    Object.entries(row.operation.requestBody?.content ?? {}).flatMap(([contentType, { examples = {} }]) =>
      Object.entries(examples).map(([example, { value }]) => ({
        name: row.operation.operationId,
        row,
        contentType,
        example,
        value,
      })),
    ),
  );

test.each(examples)('REF-1 $name returns a described response for its example "$example"', async (each) => {
  const { name, row, contentType, value } = each;
  const filled = (await known[name]?.(value)) ?? value;
  const query = name === 'streamGenerateContent' && each.example === 'plain' ? '?alt=sse' : '';
  const path = await paths[name]?.();
  await expectDescribed(row, await customer.send(row, { contentType, value: filled, query, ...(path && { path }) }));
});

test.each([
  ['API', 'listKeys', 'createKey', 'getKey', 'deleteKey'],
  ['mini app', 'listAppKeys', 'createAppKey', 'getAppKey', 'deleteAppKey'],
] as const)(
  'REF-1 a list, a read and a deletion of keys of the %s are described',
  async (_, list, create, get, end) => {
    const path = { id: await newKeyId(create) };
    await expectDescribed(rowOf(list), await customer.send(rowOf(list)));
    for (const name of [get, end]) await expectDescribed(rowOf(name), await customer.send(rowOf(name), { path }));
  },
);

test('REF-1 every paid route has an example', () => {
  const paid = Object.entries<Route>(routes).filter(([, { billed }]) => billed);
  const without = paid.filter(([name]) => !examples.some((example) => example.name === name));
  expect(without.map(([name]) => name)).toEqual([]);
});

const paid = examples.filter(({ name }) => isRoute(name) && routes[name].billed);

test.each(paid)('REF-1, BILL-16 $name returns a dry run for "$example"', async ({ row, contentType, value }) => {
  const headers = { 'x-service-dry-run': 'true' };
  const response = await customer.send(row, { contentType, value, headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, `${DRY_RUN_TYPE}; charset=utf-8`]);
  expect(answerOf(document, row.operation, '200')?.content).toHaveProperty([DRY_RUN_TYPE]);
  dryRunAnswer.strict().parse(await response.json());
});

test.each(
  ['listModels', 'getModel', 'listGoogleModels', 'getGoogleModel', 'listPrices', 'listFallbacks', 'health'].concat(
    ['getAccount', 'listUsage', 'listVideos', 'getAppAccount', 'listAppUsage', 'getAppSpend', 'getReference'],
    ['getClientGuide', 'getReferenceFile', 'getReferenceRoute', 'getGuide', 'getLlmsText', 'getApp'],
  ),
)('REF-1 %s returns a described response', async (name) => {
  const row = rowOf(isRoute(name) ? name : 'health');
  await expectDescribed(row, await customer.send(row));
});

test('REF-1 a blocked prompt of generateContent returns a described response', async () => {
  const row = rowOf('generateContent');
  const value = { contents: [{ role: 'user', parts: [{ text: '[[content-filter]]' }] }] };
  const body = await expectDescribed(row, await customer.send(row, { value }));
  expect(body).toMatchObject({ promptFeedback: { blockReason: expect.any(String) } });
  expect(body).not.toHaveProperty('candidates');
});

test('REF-1 the other formats of models and usage are described', async () => {
  const { apiKey } = customer.gateway;
  const row = rowOf('listModels');
  const messages = await customer.send(row, { headers: { 'x-api-key': apiKey, 'provider-version': '2023-06-01' } });
  const { data } = messagesModelList.parse(await expectDescribed(row, messages));
  expect(data.length).toBeGreaterThan(0);
  const content = await customer.send(row, { headers: { 'x-goog-api-key': apiKey } });
  expect(contentModelList.parse(await expectDescribed(row, content)).models.length).toBeGreaterThan(0);
  await expectDescribed(rowOf('listUsage'), await customer.send(rowOf('listUsage'), { query: '?format=csv&limit=1' }));
});

test('REF-1 a receipt, a statement and an image link return described responses', async () => {
  const usage = z
    .looseObject({ data: z.tuple([z.looseObject({ id: z.string() })]) })
    .parse(await (await customer.send(rowOf('listUsage'), { query: '?limit=1' })).json());
  const receipt = await customer.send(rowOf('getUsage'), { path: { request_id: usage.data[0].id } });
  await expectDescribed(rowOf('getUsage'), receipt);
  const path = { month: monthOf(Date.now()) };
  for (const query of ['', '?format=csv'])
    await expectDescribed(rowOf('getStatement'), await customer.send(rowOf('getStatement'), { path, query }));

  const value = { model: 'gpt-image-2', prompt: 'A boat', response_format: 'url' };
  const drawn = await customer.send(rowOf('generateImages'), { value });
  const [image] = z.looseObject({ data: z.array(z.looseObject({ url: z.url() })) }).parse(await drawn.json()).data;
  const name = image?.url.split('/').at(-1) ?? '';
  await expectDescribed(rowOf('getMedia'), await customer.send(rowOf('getMedia'), { path: { name } }));
});

test('REF-1 a video is created, polled, fetched and deleted with described responses', async () => {
  const value = { model: 'seedance-2-0-fast', prompt: 'A boat [[takes 100]]' };
  const id = idIn(await (await customer.send(rowOf('createVideo'), { value })).json());
  const path = { id };
  await until('the end of the video', async () => {
    const body = await expectDescribed(rowOf('getVideo'), await customer.send(rowOf('getVideo'), { path }));
    return z.looseObject({ status: z.string() }).parse(body).status === 'completed' ? body : undefined;
  });
  const content = rowOf('getVideoContent');
  await expectDescribed(content, await customer.send(content, { path }));
  const part = await customer.send(content, { path, headers: { range: 'bytes=0-9' } });
  expect(part.status).toBe(206);
  await expectDescribed(content, part);
  await expectDescribed(rowOf('deleteVideo'), await customer.send(rowOf('deleteVideo'), { path }));
});

test('REF-1 errors have a described status, format and code', async () => {
  const wrong: readonly [RouteName, Record<string, string>, number][] = [
    ['chatCompletions', { authorization: 'Bearer unknown' }, 401],
    ['messages', { 'x-api-key': 'unknown' }, 401],
    ['generateContent', { 'x-provider-api-key': 'unknown' }, 401],
    ['chatCompletions', { 'x-service-fallback-model': 'unknown' }, 400],
    ['embeddings', { 'idempotency-key': 'a' }, 400],
    ['getAppAccount', { authorization: 'tma unknown' }, 401],
  ];
  for (const [name, headers, status] of wrong) {
    const row = rowOf(name);
    const [{ value } = { value: undefined }] = examples.filter((example) => example.name === name);
    const response = await customer.send(row, { headers, ...(value && { value }) });
    const { code } = readError({ status: response.status, body: await response.text() }, 'any');
    expect([name, response.status]).toEqual([name, status]);
    const answer = answerOf(document, row.operation, String(status));
    expect(Object.keys(answer?.content['application/json']?.examples ?? {}), name).toContain(code);
    expect(undescribed(answer, response), name).toEqual([]);
    expect(response.headers.has('x-ratelimit-limit-requests'), name).toBe(status === 400);
  }
});
