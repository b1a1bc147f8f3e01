import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPepper } from '../../support/hostile-account.ts';
import { paddedWithBlanks } from '../../support/hostile-bodies.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import { openWire, readWire, toBytes, type WireRequest } from '../../support/hostile-wire.ts';

const VENDOR_KEY = 'sk-vendor-canary-7f3a9c51d2';
const PROMPT = 'prompt-canary-4b8e61';

let vendor: Server;
let gateway: HostileProcess;

/** A vendor that tells in every member of its errors what it was sent. The prompt says how it answers. */
const startTellTale = async (): Promise<Server> => {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const [, status = '500'] = /\[\[status (\d+)\]\]/.exec(Buffer.concat(pieces).toString()) ?? [];
    const told = `told ${request.headers.authorization}`;
    const error = { message: told, type: told, param: told, code: told };
    response.writeHead(Number(status), { 'content-type': 'application/json', 'x-told': told });
    response.end(Number(status) === 200 ? `data: ${JSON.stringify({ error })}\n\n` : JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
};

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' ? (address?.port ?? 0) : 0;

beforeAll(async () => {
  vendor = await startTellTale();
  gateway = await startHostileProcess({
    OPENAI_API_KEY: VENDOR_KEY,
    OPENAI_BASE_URL: `http://127.0.0.1:${portOf(vendor.address())}/v1`,
  });
});
afterAll(async () => {
  await gateway.stop();
  vendor.closeAllConnections();
  await new Promise((resolve) => vendor.close(resolve));
});

const post = (body: string | Buffer, ...headers: string[]): WireRequest => ({
  ...{ method: 'POST', target: '/v1/chat/completions', body },
  headers: [`authorization: Bearer ${gateway.apiKey}`, 'x-canary: header', ...headers],
});

const chat = (status: number, members: object = {}): WireRequest => {
  const messages = [{ role: 'user', content: `${PROMPT} [[status ${status}]]` }];
  return post(JSON.stringify({ model: 'gpt-5.4', max_tokens: 20, messages, ...members }));
};

const requests = (): readonly WireRequest[] => [
  ...[400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 504, 529].map((status) => chat(status)),
  ...[200, 400, 401, 500].map((status) => chat(status, { stream: true })),
  chat(200),
  post(`{"messages":"${PROMPT}`),
  post(Buffer.concat([Buffer.from(`{"a":"${PROMPT}`), Buffer.from('c0af227d', 'hex')])),
  post(`{"model":"gpt-5.4","messages":[{"role":"user","content":"${PROMPT}","extra":1}]}`),
  post(`{"model":"gpt-5.4","messages":[{"role":"user","content":["${PROMPT}"]}]}`),
  post(`{"model":"gpt-5.4","messages":[{"role":"${PROMPT}","content":1}]}`),
  post(
    `{"model":"gpt-5.4","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"${PROMPT}"}}]}]}`,
  ),
  post(`{"model":"gpt-5.4","user":"${'u'.repeat(300)}${PROMPT}","messages":[{"role":"user","content":"hi"}]}`),
  post(PROMPT),
  post(PROMPT, 'content-encoding: gzip'),
  post(paddedWithBlanks(1_000), 'content-length: 1000', 'content-length: 1000'),
  { target: '/v1/models/nothing', headers: [`authorization: Bearer ${gateway.apiKey}`] },
  { target: '/nowhere', headers: [`authorization: Bearer ${gateway.apiKey}`] },
  { target: '/api/account', headers: [`authorization: Basic ${gateway.apiKey}`] },
  { target: '/api/account', headers: [`authorization: Bearer ${gateway.apiKey}x`] },
  { target: '/api/account', headers: [`authorization: Bearer ${gateway.apiKey}`, `a b: ${PROMPT}`] },
];

const answerTo = async (request: WireRequest): Promise<string> => {
  const socket = await openWire(gateway.port);
  const read = readWire(socket);
  socket.write(toBytes(request));
  return (await read).toString();
};

const secrets = (): readonly (readonly [what: string, text: string])[] => [
  ['the key', gateway.apiKey],
  ["the key's secret part", gateway.apiKey.slice(15, -4)],
  ['the pepper', readPepper(gateway.folder)],
  ["the vendor's key", VENDOR_KEY],
  ['a prompt', PROMPT],
  ['a stack', '    at '],
  ['a place in the program', '.ts:'],
  ['a table', 'accounts'],
];

test('ERR-5 no key, pepper, prompt, table or stack is in an answer', async () => {
  const found: string[] = [];
  for (const [index, request] of requests().entries()) {
    const answer = await answerTo(request);
    expect(answer).toMatch(/^HTTP\/1\.1 /);
    for (const [what, text] of secrets())
      if (answer.includes(text)) found.push(`${what} in answer ${index}: ${answer.slice(0, 600)}`);
  }
  expect(found).toEqual([]);
});

test('ERR-5 no key, pepper, prompt, table or stack is in what the program writes while it serves', async () => {
  for (const request of requests()) await answerTo(request);
  const { stdout, stderr } = gateway.output();
  // The welcome shows the key once, on purpose.
  const [, ...lines] = stdout.split('Ctrl-C ends everything.');
  expect(lines.join('').length).toBeGreaterThan(1_000);
  const written = `${lines.join('')}${stderr}`;
  const found = secrets().filter(([, text]) => written.includes(text));
  expect(found.map(([what]) => what)).toEqual([]);
});
