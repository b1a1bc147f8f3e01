import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type CallOptions, callModel, expectOpen, FAILS, realCircuit, withReserve } from '../support/circuit-calls.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../support/in-process-gateway.ts';

let vendor: Simulator;
/** Each test has its own model, because circuits stay open while the clock does not move. */
let gateway: InProcessGateway;
let accounts: readonly { readonly accountId: string; readonly apiKey: string }[];

beforeAll(async () => {
  vendor = await startSimulator();
  const environment = { ...realCircuit, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
  gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url, environment });
  accounts = await Promise.all([gateway.issue(), gateway.issue(), gateway.issue()]);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const [ONE, OTHER, THIRD] = [0, 1, 2];
const call = (by: number, model: string, words = 'hello', more: CallOptions = {}) =>
  callModel(gateway, accounts[by] ?? { apiKey: '' }, model, words, more);

/** Returns the statuses of consecutive calls, with the accounts in turn. */
const statusesOf = async (times: number, by: readonly number[], ...sent: [string, string, CallOptions?]) => {
  const statuses: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    statuses.push((await call(by[turn % by.length] ?? 0, ...sent)).status);
  }
  return [...new Set(statuses)];
};
const both = [ONE, OTHER];

const stream: CallOptions = { stream: true };
const embedding = (model: string, input: string): CallOptions => ({ path: '/v1/embeddings', body: { model, input } });
const response = (model: string, input: string): CallOptions => ({ path: '/v1/responses', body: { model, input } });

test.each([
  ['status 500', 'gpt-6.2-sol', FAILS, 502, 5, () => ({})],
  ['status 503', 'gpt-6.1-sol', '[[status 503]]', 503, 5, () => ({})],
  ['status 429', 'gpt-6.1-terra', '[[status 429]]', 429, 5, () => ({})],
  ['a reset', 'gpt-6-sol', '[[reset]]', 502, 5, () => ({})],
  ['a page of HTML', 'gpt-5.6-sol', '[[garbage]]', 502, 5, () => ({})],
  ['no connection', 'claude-sonnet-5', 'hello', 503, 0, () => ({})],
  ['an error as first event', 'gpt-5.6-terra', '[[first-event-error]]', 502, 5, () => stream],
  ['an error as first event of Gemini', 'gemini-4-carbon', '[[first-event-error]]', 503, 5, () => stream],
  ['a stream that breaks off', 'gpt-5.5', '[[words 20]] [[cut 5]]', 200, 5, () => stream],
  ['status 500 to embeddings', 'text-embedding-3-small', FAILS, 502, 5, embedding],
  ['status 500 to responses', 'gpt-5.4-pro', FAILS, 502, 5, response],
] as const)(
  'FALL-1 FALL-5 ERR-2 %s five times in a row by two accounts opens the shared circuit',
  async (_, model, words, status, calls, make) => {
    const more = make as (model: string, words: string) => CallOptions;
    expect(await statusesOf(5, both, model, words, more(model, words))).toEqual([status]);
    expect(vendor.requests).toHaveLength(calls);
    for (const by of [ONE, OTHER, THIRD]) expectOpen(await call(by, model, 'hello', more(model, 'hello')));
    expect(vendor.requests).toHaveLength(calls);
  },
);

test('FALL-1 a circuit belongs to a model of a provider, for every protocol', async () => {
  const model = 'gemini-4-hydrogen';
  await statusesOf(5, both, model, FAILS);
  const body = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
  const headers = { 'x-goog-api-key': accounts[THIRD]?.apiKey ?? '' };
  const native = await call(THIRD, '', '', { path: `/v1beta/models/${model}:generateContent`, body, headers });
  expect([native.status, native.code]).toEqual([503, 'service_unavailable']);
  expect(vendor.requests).toHaveLength(5);
  expect((await call(THIRD, 'gemini-3.5-flash-lite')).status).toBe(200);
});

test('FALL-1 four failures and a success do not open the circuit', async () => {
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await statusesOf(4, both, 'gpt-5.4-mini', FAILS)).toEqual([502]);
    expect((await call(ONE, 'gpt-5.4-mini')).status).toBe(200);
  }
});

test('FALL-1 failures of one account open the circuit for that account alone', async () => {
  await statusesOf(5, [ONE], 'gpt-4.1-mini', FAILS);
  expectOpen(await call(ONE, 'gpt-4.1-mini'));
  expect((await call(OTHER, 'gpt-4.1-mini')).status).toBe(200);
  expectOpen(await call(ONE, 'gpt-4.1-mini'));
});

test.each([
  ...['[[status 400]]', '[[status 413]]', '[[status 422]]', '[[context-length]]', '[[content-filter]]'].map(
    (words) => [words, 400] as const,
  ),
  ...['[[vendor-401]]', '[[status 402]]', '[[status 403]]', '[[vendor-quota]]', '[[vendor-404]]'].map(
    (words) => [words, 503] as const,
  ),
])('FALL-1 ERR-3 %s ten times in a row does not count against the provider', async (words, status) => {
  const model = 'gemini-3.8-flash';
  expect(await statusesOf(10, both, model, words)).toEqual([status]);
  expect((await call(THIRD, model)).status).toBe(200);
});

test('FALL-3 FALL-5 an open circuit uses the fallback model, which has its own circuit', async () => {
  const [model, reserve] = ['gpt-6.2-astra', 'gpt-6-luna'];
  const served = async (more: CallOptions = {}) => {
    const { status, headers } = await call(THIRD, model, 'hello', { ...withReserve(reserve), ...more });
    return [status, headers.get('x-service-model-used'), headers.get('x-service-fallback-from')];
  };
  expect(await served()).toEqual([200, null, null]);
  await statusesOf(5, both, model, FAILS);
  vendor.reset();
  for (const more of [{}, stream]) expect(await served(more)).toEqual([200, reserve, model]);
  expect(vendor.requests.map(({ body }) => JSON.stringify(body).includes(`"model":"${reserve}"`))).toEqual([
    true,
    true,
  ]);
  expect(await statusesOf(5, both, model, FAILS, withReserve(reserve))).toEqual([502]);
  expectOpen(await call(THIRD, model, 'hello', withReserve(reserve)));
});
