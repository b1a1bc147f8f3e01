import { afterAll, beforeAll, expect, test } from 'vitest';
import openai from '../../catalog/openai.json' with { type: 'json' };
import providers from '../../catalog/providers.json' with { type: 'json' };
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type CallOptions, callModel, type Told, withReserve } from '../support/circuit-calls.ts';
import { openCircuit, startCircuitGateway } from '../support/circuit-hostile.ts';
import { pricesOf } from '../support/gateway-chat.ts';
import { responses } from '../support/hostile-routes.ts';
import type { InProcessGateway } from '../support/in-process-gateway.ts';

const asked = responses.model;
const reserve = 'the-reserve';
/**
 * Returns a catalog with an added fallback model, because no model of the real catalog can be the fallback model of
 * another one on this route.
 */
const catalog = () => {
  const model = openai.models.find(({ id }) => id === asked);
  const upstreams = [{ provider: 'openai', model: 'gpt-5.4-pro', wire: 'openai_responses', when: 'always' }];
  const prices = [{ unit: '1M_tokens', rates: { input: '20', output: '100' } }];
  const models = [model, { ...model, id: reserve, upstreams, prices }];
  return { providers, companies: { openai: { ...openai, models } } };
};

let vendor: Simulator;
let gateway: InProcessGateway;
beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startCircuitGateway({ vendorUrl: vendor.url, catalog: catalog() });
  await openCircuit(gateway, responses);
  vendor.reset();
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

const path = { path: responses.target, body: responses.body('hello') };
const ask = (apiKey: string, more: CallOptions = {}) => callModel(gateway, { apiKey }, asked, '', { ...path, ...more });

/** Returns the complete response, plain or from the last event of its stream. */
const responseIn = ({ text }: Told, streamed: boolean) => {
  if (!streamed) return JSON.parse(text);
  const [, data = ''] = /event: response\.completed\ndata: (.*)\n/.exec(text) ?? [];
  return JSON.parse(data).response;
};

test.each([false, true])(
  'FALL-1 FALL-3 a response of the fallback model, streamed %s, names it and has its price',
  async (stream) => {
    const { apiKey, accountId } = await gateway.issue({ balanceUsd: '100' });
    expect((await ask(apiKey, { stream })).code).toBe('service_unavailable');
    const told = await ask(apiKey, { ...withReserve(reserve), stream });
    expect(told.status).toBe(200);
    expect(told.headers.get('x-service-model-used')).toBe(reserve);
    expect(told.headers.get('x-service-fallback-from')).toBe(asked);
    const { model, usage } = responseIn(told, stream);
    expect(model).toBe(reserve);
    expect(told.text).not.toContain(`"model":"${asked}"`);
    expect(vendor.requests.at(-1)?.body).toMatchObject({ model: 'gpt-5.4-pro' });
    const price = await pricesOf(gateway, reserve);
    const charge = price({ prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens });
    const open = async () => (await gateway.ledger.readAccount(accountId))?.holds.size;
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
    expect((await gateway.ledger.readAccount(accountId))?.spentPicos).toBe(charge);
  },
);

test('FALL-3 IDEM-2 a replayed response names the fallback model again', async () => {
  const { apiKey } = await gateway.issue({ balanceUsd: '100' });
  const headers = { ...withReserve(reserve).headers, 'idempotency-key': 'a' };
  const calls = vendor.requests.length;
  const [first, again] = [await ask(apiKey, { headers }), await ask(apiKey, { headers })];
  for (const { status, headers: told } of [first, again]) {
    expect([status, told.get('x-service-model-used'), told.get('x-service-fallback-from')]).toEqual([
      200,
      reserve,
      asked,
    ]);
  }
  expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
  expect(vendor.requests).toHaveLength(calls + 1);
});
