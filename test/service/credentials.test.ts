import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createVendorAccess } from '../../lambdas/functions/wiring/vendor-access.ts';
import { CredentialChoice } from '../../lambdas/providers/credential-choice.ts';
import { callModel, realCircuit } from '../support/circuit-calls.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process-gateway.ts';

const MODEL = 'gpt-5.5';
const LIMITED = 'sk-limited-canary';
const INVALID = 'sk-invalid-canary';
const GOOD = 'sk-good-canary';

const message = { role: 'assistant', content: 'hi' };
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: MODEL,
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

const slow = [429, { error: { code: 'rate_limit_exceeded', type: 'requests', message: 'slow down' } }] as const;

const answers: Readonly<Record<string, readonly [number, object]>> = {
  [LIMITED]: slow,
  [`${LIMITED}-2`]: slow,
  [INVALID]: [401, { error: { code: 'invalid_api_key', message: `Incorrect API key provided: ${INVALID}` } }],
};

let vendor: Server | undefined;
let gateway: InProcessGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  vendor?.close();
  vendor?.closeAllConnections();
});

/** Gateway whose OpenAI has these keys. The first free one is always chosen. */
const createScene = async (...keys: readonly string[]) => {
  const calls: string[] = [];
  vendor = createServer((request, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
    calls.push(key);
    const [status, body] = answers[key] ?? [200, completion];
    const headers = { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '10' }) };
    request.resume().on('end', () => response.writeHead(status, headers).end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => vendor?.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`;
  const time = { now: Date.UTC(2026, 10, 25) };
  const events: string[] = [];
  gateway = await startInProcess({
    vendorUrl: undefined,
    now: () => time.now,
    environment: realCircuit,
    change: ({ catalog }) => ({
      vendorAccess: createVendorAccess(
        catalog,
        { OPENAI_BASE_URL: url, OPENAI_API_KEY: JSON.stringify(keys.map((key) => ({ key }))) },
        new CredentialChoice({
          now: () => time.now,
          random: () => 0,
          notice: (name, { credential }) => void events.push(`${name} ${credential}`),
        }),
      ),
    }),
  });
  const accounts = [await gateway.issue(), await gateway.issue()];
  let turn = 0;
  const call = () => {
    turn += 1;
    return callModel(gateway ?? { url: '' }, accounts[turn % 2] ?? { apiKey: '' }, MODEL, 'hello');
  };
  return { call, calls, events, time };
};

test('ERR-10 a 429 of one credential never opens the circuit; the other credential serves the model', async () => {
  const { call, calls, time } = await createScene(LIMITED, GOOD);
  for (let index = 0; index < 6; index += 1) {
    expect((await call()).status).toBe(429);
    time.now += 10_000;
  }
  expect((await call()).status).toBe(429);
  expect((await call()).status).toBe(200);
  expect(calls).toEqual([...Array.from({ length: 7 }, () => LIMITED), GOOD]);
});

test('ERR-10, FALL-1 429 of all credentials opens the circuit', async () => {
  const { call, calls } = await createScene(LIMITED, `${LIMITED}-2`);
  const statuses: number[] = [];
  for (let index = 0; index < 8; index += 1) statuses.push((await call()).status);
  expect(statuses).toEqual([429, 429, 429, 429, 429, 429, 503, 503]);
  expect(calls).toHaveLength(6);
});

test('ERR-10, ERR-5 an invalid credential costs one request; nothing is charged and no text shows its key', async () => {
  const { call, calls, events } = await createScene(INVALID, GOOD);
  const refused = await call();
  expect([refused.status, refused.code]).toEqual([503, 'service_unavailable']);
  expect(refused.text).not.toContain('canary');
  for (let index = 0; index < 3; index += 1) expect((await call()).status).toBe(200);
  expect(calls).toEqual([INVALID, GOOD, GOOD, GOOD]);
  expect(events).toEqual(['credential_refused #1']);
});
