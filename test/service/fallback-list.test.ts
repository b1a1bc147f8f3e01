import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type CallOptions, callModel, expectOpen, openAt } from '../support/circuit-calls.ts';
import { startCircuitGateway } from '../support/circuit-hostile.ts';
import { pricesOf } from '../support/gateway-chat.ts';
import type { InProcessGateway } from '../support/in-process-gateway.ts';

const asked = 'gpt-5.4';
const [first, second, third] = ['gpt-5.6-terra', 'gpt-6-luna', 'gpt-6.1-sol'];
/** Catalog models in the order of preference, which is not the order of the catalog. */
const list = `${first}, ${second},${third}`;

type Account = Awaited<ReturnType<InProcessGateway['issue']>>;

let vendor: Simulator;
let gateway: InProcessGateway;
let failing: readonly Account[];
beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startCircuitGateway({ vendorUrl: vendor.url });
  failing = [await gateway.issue({ balanceUsd: '100' }), await gateway.issue({ balanceUsd: '100' })];
  await openAt(gateway, asked, failing);
  vendor.reset();
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

const ask = (account: Account, headers: Readonly<Record<string, string>>, more: CallOptions = {}) =>
  callModel(gateway, account, asked, 'hello', { ...more, headers });
const listed = { 'x-service-fallback-models': list };

test('FALL-6 IDEM-6 a repeat with the same list is replayed, and another list is a mismatch', async () => {
  const account = await gateway.issue({ balanceUsd: '100' });
  const calls = vendor.requests.length;
  const send = (headers: Readonly<Record<string, string>>) => ask(account, { ...headers, 'idempotency-key': 'a' });
  const reply = await send(listed);
  expect([reply.status, reply.headers.get('x-service-model-used')]).toEqual([200, first]);
  const again = await send({ 'x-service-fallback-models': `${first},${second}, ${third}` });
  expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, reply.text, 'true']);
  expect(again.headers.get('x-service-model-used')).toBe(first);
  for (const other of [`${second}, ${first}, ${third}`, first]) {
    expect((await send({ 'x-service-fallback-models': other })).code).toBe('idempotency_key_mismatch');
  }
  expect((await send({})).code).toBe('idempotency_key_mismatch');
  expect(vendor.requests).toHaveLength(calls + 1);
});

test('FALL-6 IDEM-6 both headers are the same request if they name the same model', async () => {
  const account = await gateway.issue({ balanceUsd: '100' });
  const key = { 'idempotency-key': 'b' };
  const reply = await ask(account, { 'x-service-fallback-model': first, ...key });
  const again = await ask(account, { 'x-service-fallback-models': first, ...key });
  expect([reply.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([200, reply.text, 'true']);
});

test.for([
  [{ ...listed, 'x-service-fallback-model': first }, 'cannot be combined with x-service-fallback-model'],
  [{ 'x-service-fallback-models': `${list}, gpt-6-sol` }, 'has 4 model ids, and the limit is 3'],
  [{ 'x-service-fallback-models': `${first}, ${asked}` }, `"${asked}" is the requested model`],
  [{ 'x-service-fallback-models': `${first}, claude-haiku-4-5` }, '"claude-haiku-4-5" is not an allowed fallback'],
] as const)('FALL-6 the headers %o are 400 and charge nothing', async ([headers, problem]) => {
  const account = await gateway.issue({ balanceUsd: '100' });
  const reply = await ask(account, headers);
  expect([reply.status, reply.code]).toEqual([400, 'invalid_fallback_model']);
  expect(JSON.parse(reply.text).error).toMatchObject({
    param: 'x-service-fallback-models',
    message: expect.stringContaining(problem),
  });
  const after = await gateway.ledger.readAccount(account.accountId);
  expect([after?.spentPicos, after?.holds.size]).toEqual([0n, 0]);
});

test('FALL-6 FALL-3 FALL-5 the list is used in its order until every circuit is open', async () => {
  const account = await gateway.issue({ balanceUsd: '100' });
  await openAt(gateway, first, failing);
  const price = await pricesOf(gateway, second);
  const dry = await ask(account, { ...listed, 'x-service-dry-run': 'true' });
  expect(JSON.parse(dry.text)).toMatchObject({ object: 'dry_run', model: second });
  const reply = await ask(account, listed);
  expect([
    reply.status,
    reply.headers.get('x-service-model-used'),
    reply.headers.get('x-service-fallback-from'),
  ]).toEqual([...[200, second, asked]]);
  const { model, usage } = JSON.parse(reply.text);
  expect(model).toBe(second);
  expect((await gateway.ledger.readAccount(account.accountId))?.spentPicos).toBe(price(usage));
  const streamed = await ask(account, listed, { stream: true });
  expect([streamed.headers.get('x-service-model-used'), streamed.text.includes(`"model":"${second}"`)]).toEqual([
    ...[second, true],
  ]);
  for (const name of [second, third]) await openAt(gateway, name, failing);
  expectOpen(await ask(account, listed));
});
