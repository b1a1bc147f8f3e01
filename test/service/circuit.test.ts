import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../lib/local/free-port.ts';
import type { Simulator } from '../../lib/local/upstreams/server.ts';
import {
  type CallOptions,
  callInTurn,
  callModel,
  expectOpen,
  FAILS,
  isOpen,
  openAt,
  spentOf,
  type Told,
  withReserve,
} from '../support/circuit-calls.ts';
import { type CircuitGroup, startCircuitGroup } from '../support/circuit-group.ts';
import type { TestGateway } from '../support/gateway.ts';
import { chunkSchema, pricesOf } from '../support/gateway-chat.ts';
import type { GroupAccount, ServerGroup } from '../support/server-group.ts';

/** Each test has models of its own, or a process. */
let server: TestGateway;
let second: TestGateway;
let all: CircuitGroup | undefined;
let vendor: Simulator;
let group: ServerGroup;
let one: GroupAccount;
let other: GroupAccount;
let third: GroupAccount;

/** Only for requests whose vendor is to be silent. */
const DEADLINE_SECONDS = '6';

beforeAll(async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  all = await startCircuitGroup([{ ANTHROPIC_BASE_URL: nowhere, UPSTREAM_DEADLINE_SECONDS: DEADLINE_SECONDS }, {}]);
  [server, second] = [all.servers[0]!, all.servers[1]!];
  ({ vendor, group, one, other, third } = all);
}, 120_000);
afterAll(() => all?.stop());
beforeEach(() => vendor.reset());

const both = (): readonly GroupAccount[] => [one, other];

const inputOf = (model: string, words: string): CallOptions => ({
  path: '/v1/embeddings',
  body: { model, input: words },
});

const failures = [
  { name: '500', model: 'gpt-6.2-sol', words: FAILS, status: 502, calls: 5 },
  { name: '503', model: 'gpt-6.1-sol', words: '[[status 503]]', status: 503, calls: 5 },
  { name: '429', model: 'gpt-6.1-terra', words: '[[status 429]]', status: 429, calls: 5 },
  { name: 'a reset', model: 'gpt-6-sol', words: '[[reset]]', status: 502, calls: 5 },
  { name: 'a page of HTML', model: 'gpt-5.6-sol', words: '[[garbage]]', status: 502, calls: 5 },
  { name: 'no connection', model: 'claude-sonnet-5', words: 'hello', status: 503, calls: 0 },
  {
    name: 'an error as first event',
    model: 'gpt-5.6-terra',
    words: '[[first-event-error]]',
    status: 502,
    calls: 5,
    more: { stream: true },
  },
  {
    name: 'an error as first event of Gemini',
    model: 'gemini-4-carbon',
    words: '[[first-event-error]]',
    status: 503,
    calls: 5,
    more: { stream: true },
  },
  {
    name: 'a stream that breaks off',
    model: 'gpt-5.5',
    words: '[[words 20]] [[cut 5]]',
    status: 200,
    calls: 5,
    more: { stream: true },
  },
  {
    name: '500 to embeddings',
    model: 'text-embedding-3-small',
    words: FAILS,
    status: 502,
    calls: 5,
    more: inputOf('text-embedding-3-small', FAILS),
  },
  {
    name: '500 to responses',
    model: 'gpt-5.4-pro',
    words: FAILS,
    status: 502,
    calls: 5,
    more: { path: '/v1/responses', body: { model: 'gpt-5.4-pro', input: FAILS } },
  },
] as const;

test.for(failures)(
  'FALL-1 FALL-5 ERR-2 five times $name in a row, of two accounts, open the circuit for everybody in that process',
  async ({ model, words, status, calls, ...row }) => {
    const more: CallOptions = 'more' in row ? row.more : {};
    const told = await callInTurn(5, both(), (by) => callModel(server, by, model, words, more));
    expect(told.map((each) => each.status)).toEqual(Array(5).fill(status));
    expect(vendor.requests).toHaveLength(calls);
    const good = {
      ...more,
      ...(more.body ? { body: JSON.parse(JSON.stringify(more.body).replace(words, 'hello')) } : {}),
    };
    for (const by of [one, other, third]) expectOpen(await callModel(server, by, model, 'hello', good));
    expect(vendor.requests).toHaveLength(calls);
    expect(await spentOf(group, third)).toBe(0n);
  },
);

test('FALL-1 five answers that do not come in time open it', async () => {
  const model = 'gemini-4-argon';
  const late = await Promise.all([one, other, one, other, one].map((by) => callModel(server, by, model, '[[hang]]')));
  expect(late.map(({ status }) => status)).toEqual(Array(5).fill(504));
  expectOpen(await callModel(server, third, model, 'hello'));
});

test('FALL-1 a circuit is a model of a provider, whatever the protocol, and no other model of it', async () => {
  await openAt(server, 'gemini-4-hydrogen', both());
  const calls = vendor.requests.length;
  const body = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
  const path = '/v1beta/models/gemini-4-hydrogen:generateContent';
  const native = await callModel(server, third, '', '', { path, body, headers: { 'x-goog-api-key': third.apiKey } });
  expect([native.status, native.code]).toEqual([503, 'service_unavailable']);
  expect(vendor.requests).toHaveLength(calls);
  expect((await callModel(server, third, 'gemini-3.5-flash-lite', 'hello')).status).toBe(200);
});

test('FALL-1 four failures and a success open nothing', async () => {
  const model = 'gpt-5.4-mini';
  for (let turn = 0; turn < 2; turn += 1) {
    await callInTurn(4, both(), (by) => callModel(second, by, model, FAILS));
    expect((await callModel(second, one, model, 'hello')).status).toBe(200);
  }
  expect(vendor.requests).toHaveLength(10);
});

test('FALL-1 failures of one account open it for that account alone', async () => {
  const model = 'gpt-4.1-mini';
  await callInTurn(5, [one], (by) => callModel(server, by, model, FAILS));
  expectOpen(await callModel(server, one, model, 'hello'));
  expect(vendor.requests).toHaveLength(5);
  expect((await callModel(server, other, model, 'hello')).status).toBe(200);
  expect((await callModel(server, third, model, 'hello')).status).toBe(200);
  expect(vendor.requests).toHaveLength(7);
  expect(await isOpen(server, one, model)).toBe(true);
});

const harmless = ['[[status 400]]', '[[status 413]]', '[[status 422]]', '[[context-length]]', '[[content-filter]]'];
const ours = ['[[vendor-401]]', '[[status 402]]', '[[status 403]]', '[[vendor-quota]]', '[[vendor-404]]'];

test.for([...harmless, ...ours])(
  'FALL-1 ERR-3 ten times %s in a row, of two accounts, say nothing against the vendor',
  async (words) => {
    const model = 'gemini-3.8-flash';
    const told = await callInTurn(10, both(), (by) => callModel(server, by, model, words));
    expect(new Set(told.map(({ status }) => status)).size).toBe(1);
    expect(told[0]!.status).toBe(harmless.includes(words) ? 400 : 503);
    expect(vendor.requests).toHaveLength(10);
    expect((await callModel(server, third, model, 'hello')).status).toBe(200);
  },
);

describe('with a reserve', () => {
  const usageIn = ({ text }: Told) => {
    if (!text.startsWith('data: ')) return JSON.parse(text);
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'));
    const chunks = events.map((event) => chunkSchema.parse(JSON.parse(event.slice('data: '.length))));
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(new Set(chunks.map(({ model }) => model)).size).toBe(1);
    return chunks.at(-1)!;
  };

  test.for([
    ['gpt-6.2-astra', 'gpt-6-luna'],
    ['gemini-3.8-flash', 'gemini-3.5-flash-lite'],
    ['claude-opus-5', 'claude-haiku-5-5'],
  ] as const)(
    'FALL-1 FALL-3 %s is called until its circuit opens, then %s answers, says so and is charged as itself',
    async ([asked, reserve]) => {
      const at = second;
      for (const stream of [false, true]) {
        const before = await callModel(at, third, asked, 'hello', { ...withReserve(reserve), stream });
        expect([before.status, usageIn(before).model]).toEqual([200, asked]);
        for (const name of ['x-service-model-used', 'x-service-fallback-from'])
          expect(before.headers.get(name)).toBeNull();
      }
      await openAt(at, asked, both());
      const price = await pricesOf(at, reserve);
      for (const stream of [false, true]) {
        vendor.reset();
        const spentBefore = await spentOf(group, third);
        const told = await callModel(at, third, asked, 'hello', { ...withReserve(reserve), stream });
        expect(told.status).toBe(200);
        const facts = ['x-service-model-used', 'x-service-fallback-from'].map((name) => told.headers.get(name));
        expect(facts).toEqual([reserve, asked]);
        const { model, usage } = usageIn(told);
        expect(model).toBe(reserve);
        expect(vendor.requests).toHaveLength(1);
        expect(`${vendor.requests[0]!.path} ${JSON.stringify(vendor.requests[0]!.body)}`).toContain(reserve);
        const charge = (await spentOf(group, third)) - spentBefore;
        expect(charge).toBe(price(usage));
        expect(charge).toBeGreaterThan(0n);
      }
      expectOpen(await callModel(at, third, asked, 'hello'));
    },
  );

  test('FALL-5 GEN-5 a reserve that fails is the end of the request, and one whose circuit is open is not called', async () => {
    const at = second;
    const [asked, reserve] = ['gpt-5.6-sol', 'gpt-5.4'] as const;
    await openAt(at, asked, both());
    vendor.reset();
    const spent = await spentOf(group, third);
    for (let turn = 1; turn <= 5; turn += 1) {
      const failed = await callModel(at, turn % 2 ? one : third, asked, FAILS, withReserve(reserve));
      expect([failed.status, failed.code]).toEqual([502, 'upstream_error']);
      expect(vendor.requests).toHaveLength(turn);
      expect(JSON.stringify(vendor.requests.at(-1)!.body)).toContain(`"model":"${reserve}"`);
    }
    expectOpen(await callModel(at, third, asked, 'hello', withReserve(reserve)));
    expect(vendor.requests).toHaveLength(5);
    expect(await spentOf(group, third)).toBe(spent);
  });
});
