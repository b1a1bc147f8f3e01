import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localDynamodbConfig, localTableNames } from '../../../lib/local/create-tables.ts';
import { startTestDynamodb, type TestDynamodb } from '../../support/dynamodb.ts';
import { readPepper } from '../../support/hostile-account.ts';
import { paddedWithBlanks } from '../../support/hostile-bodies.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import {
  chat,
  generateContent,
  having,
  messages,
  type PostRoute,
  postRoutes,
  withQuery,
} from '../../support/hostile-routes.ts';
import { startTellTale, type TellTale, vendorKeys } from '../../support/hostile-tell-tale.ts';
import { openWire, readWire, toBytes, type WireRequest } from '../../support/hostile-wire.ts';

const PROMPT = 'prompt-canary-4b8e61';

let database: TestDynamodb;
let vendor: TellTale;
let gateway: HostileProcess;

beforeAll(async () => {
  database = await startTestDynamodb();
  vendor = await startTellTale();
  gateway = await startHostileProcess({ DYNAMODB_ENDPOINT: database.endpoint, ...vendor.environment });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
  await database.stop();
});

const post = (route: PostRoute, body: string | Buffer, ...headers: string[]): WireRequest => ({
  ...{ method: 'POST', target: route.target, body },
  headers: [...route.headers(gateway.apiKey), 'x-canary: header', ...headers],
});

/** The same with the key in its address, where a route reads it there. */
const postWithQuery = (route: PostRoute, body: string): WireRequest => ({
  ...{ method: 'POST', target: withQuery(route.target, `key=${gateway.apiKey}`), body },
  headers: ['x-canary: header'],
});

const STATUSES = [400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 504, 529, 200];

/** What every vendor answers with on every route, streamed where that is told in the body. */
const answered = (route: PostRoute, more = ''): readonly WireRequest[] => {
  const words = (status: number): string => `${PROMPT} [[status ${status}]]${more}`;
  const plain = STATUSES.map((status) => post(route, JSON.stringify(route.body(words(status)))));
  const streams = ['chat', 'responses', 'messages'].includes(route.name);
  const streamed = [200, 400, 401, 500].map((status) =>
    post(route, JSON.stringify(route.body(words(status), { stream: true }))),
  );
  const inQuery = [200, 400, 403, 500].map((status) => postWithQuery(route, JSON.stringify(route.body(words(status)))));
  return [...plain, ...(streams ? streamed : []), ...(route.shape === 'generate_content' ? inQuery : [])];
};

const bytes = Buffer.concat([Buffer.from(`{"a":"${PROMPT}`), Buffer.from('c0af227d', 'hex')]);

/** What is refused before any vendor is asked. */
const refusedAt = (route: PostRoute): readonly WireRequest[] => [
  post(route, `{"messages":"${PROMPT}`),
  post(route, bytes),
  post(route, PROMPT),
  post(route, PROMPT, 'content-encoding: gzip'),
  post(route, having(route, `"input":[{"role":"${PROMPT}"}],"contents":"${PROMPT}","messages":"${PROMPT}"`)),
  post(route, JSON.stringify(route.body(PROMPT, { unknown: PROMPT }))),
  post(
    route,
    JSON.stringify(
      route.body(PROMPT, { user: `${'u'.repeat(300)}${PROMPT}`, metadata: { user_id: `${'u'.repeat(300)}${PROMPT}` } }),
    ),
  ),
  {
    ...post(route, JSON.stringify(route.body(PROMPT))),
    headers: [`authorization: Bearer ${gateway.apiKey}x`, `x-api-key: ${gateway.apiKey}x`],
  },
  { method: 'POST', target: withQuery(route.target, `key=${gateway.apiKey}x&api_key=${gateway.apiKey}`), body: PROMPT },
  { method: 'PUT', target: withQuery(route.target, `key=${gateway.apiKey}`), body: PROMPT },
  { method: 'POST', target: withQuery(`${route.target.split('?')[0]}/nowhere`, `key=${gateway.apiKey}`), body: PROMPT },
];

const png = (data: string): string =>
  `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${data}"}}`;

const others = (): readonly WireRequest[] => [
  post(chat, having(chat, `"messages":[{"role":"user","content":"${PROMPT}","extra":1}]`)),
  post(chat, having(chat, `"messages":[{"role":"user","content":["${PROMPT}"]}]`)),
  post(
    chat,
    having(chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"${PROMPT}"}}]}]`),
  ),
  post(messages, having(messages, `"messages":[{"role":"user","content":[${png(PROMPT)}]}]`)),
  post(
    generateContent,
    having(generateContent, `"systemInstruction":{"parts":[{"text":1,"${PROMPT.slice(0, 4)}":2}]}`),
  ),
  post(chat, paddedWithBlanks(1_000), 'content-length: 1000', 'content-length: 1000'),
  { target: '/v1/models/nothing', headers: [`authorization: Bearer ${gateway.apiKey}`] },
  { target: `/v1beta/models?key=${gateway.apiKey}&pageSize=-1` },
  { target: `/v1beta/models/nothing?key=${gateway.apiKey}` },
  { target: `/v1beta/models?key=${gateway.apiKey}` },
  { target: '/nowhere', headers: [`authorization: Bearer ${gateway.apiKey}`] },
  { target: '/api/account', headers: [`authorization: Basic ${gateway.apiKey}`] },
  { target: '/api/account', headers: [`authorization: Bearer ${gateway.apiKey}`, `a b: ${PROMPT}`] },
];

const requests = (): readonly WireRequest[] => [
  ...postRoutes.flatMap((route) => [...answered(route), ...refusedAt(route)]),
  ...others(),
];

const answerTo = async (request: WireRequest): Promise<string> => {
  const socket = await openWire(gateway.port);
  const read = readWire(socket, 30_000);
  socket.write(toBytes(request));
  return (await read).toString();
};

const secrets = (): readonly (readonly [what: string, text: string])[] => [
  ['the key', gateway.apiKey],
  ["the key's secret part", gateway.apiKey.slice(15, -4)],
  ['the pepper', readPepper(gateway.folder)],
  ...Object.entries(vendorKeys),
  ['a prompt', PROMPT],
];

const places: readonly (readonly [what: string, text: string])[] = [
  ['a stack', '    at '],
  ['a place in the program', '.ts:'],
  ['a table', 'accounts'],
];

test('ERR-5 no key, pepper, prompt, table or stack is in an answer', async () => {
  const found: string[] = [];
  for (const [index, request] of requests().entries()) {
    const answer = await answerTo(request);
    expect(answer).toMatch(/^HTTP\/1\.1 /);
    for (const [what, text] of [...secrets(), ...places])
      if (answer.includes(text)) found.push(`${what} in answer ${index} to ${request.target}: ${answer.slice(0, 600)}`);
  }
  expect(found).toEqual([]);
});

test("ERR-5 no vendor's key is in an answer, and no prompt in the log, when the vendor quotes all it was sent", async () => {
  const found: string[] = [];
  for (const request of postRoutes.flatMap((route) => answered(route, '[[echo]]'))) {
    const answer = await answerTo(request);
    for (const [what, text] of Object.entries(vendorKeys))
      if (answer.includes(text)) found.push(`${what} at ${request.target}`);
  }
  expect(found).toEqual([]);
});

test('ERR-5 no key, pepper, prompt, table or stack is in what the program writes while it serves', async () => {
  for (const request of requests()) await answerTo(request);
  const { stdout, stderr } = gateway.output();
  // The welcome shows the key once, on purpose.
  const [, ...lines] = stdout.split('Ctrl-C ends everything.');
  expect(lines.join('').length).toBeGreaterThan(10_000);
  const written = `${lines.join('')}${stderr}`;
  const found = [...secrets(), ...places].filter(([, text]) => written.includes(text));
  expect(found.map(([what]) => what)).toEqual([]);
});

test('ERR-5 AUTH-5 no key, pepper or prompt is in any table', async () => {
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const stored: { readonly table: string; readonly item: string }[] = [];
  for (const TableName of Object.values(localTableNames)) {
    const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand({ TableName }));
    expect(LastEvaluatedKey).toBeUndefined();
    stored.push(...Items.map((item) => ({ table: TableName, item: JSON.stringify(item) })));
  }
  client.destroy();
  expect(stored.length).toBeGreaterThan(2);
  // A video's own record has its prompt, which its owner is shown with it.
  const mayHold = (table: string, what: string) => table === localTableNames.videos && what === 'a prompt';
  const found = secrets().filter(([what, text]) =>
    stored.some(({ table, item }) => item.includes(text) && !mayHold(table, what)),
  );
  expect(found.map(([what]) => what)).toEqual([]);
});
