import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTextHandler } from '../../lambdas/functions/wiring/text-handler.ts';
import { createResponseStream, streaming } from '../../lambdas/host/lambda-runtime.ts';
import { functionUrlEvent } from '../lambdas/http/function-url.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { startCollector } from '../support/otlp-collector.ts';
import { startSimulated } from './simulated-gateway.ts';

const collector = await startCollector();
const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
const { gateway, another } = await startSimulated(environment);
const NEVER_MS = 1_000_000_000;
beforeEach(() => {
  collector.clear();
  collector.answer.delayMs = 0;
});
afterAll(() => collector.stop());

/** Calls the text function with an event, as Lambda does. Returns the events of the call in their order, with times. */
const invoke = async (): Promise<readonly (readonly [name: string, atMs: number])[]> => {
  const at = await another({ ...environment, AWS_LAMBDA_FUNCTION_NAME: 'text' });
  const handler = streaming(createTextHandler(at.deps));
  const seen: [string, number][] = [];
  const note = (name: string): void => void seen.push([name, performance.now()]);
  collector.answer.onRequest = () => note('spans');
  const event = functionUrlEvent({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${at.apiKey}` },
    body: JSON.stringify({ model: 'gpt-5.4', messages: saying('hello'), stream: true }),
  });
  const stream = createResponseStream({
    head: () => note('head'),
    write: (_bytes, done) => done(),
    end: (done) => {
      note('response');
      done();
    },
  });
  await handler(event, stream, { functionName: 'text' });
  note('handler');
  collector.answer.onRequest = undefined;
  return seen;
};

const namesOf = (seen: Awaited<ReturnType<typeof invoke>>) => seen.map(([name]) => name);

test('OPS-19 spans of an invocation leave after its response and before its end', async () => {
  expect(namesOf(await invoke())).toEqual(['head', 'response', 'spans', 'handler']);
  expect(collector.spans().map(({ name }) => name)).toEqual([
    'admission',
    'hold',
    'chat gpt-5.4',
    'settle',
    'POST /v1/chat/completions',
  ]);
});

test('OPS-19 an invocation waits one second for a collector that never responds', async () => {
  collector.answer.delayMs = NEVER_MS;
  const seen = await invoke();
  expect(namesOf(seen)).toEqual(['head', 'response', 'spans', 'handler']);
  const at = new Map(seen);
  expect((at.get('handler') ?? 0) - (at.get('response') ?? 0)).toBeGreaterThan(900);
});

test('OPS-19 requests end while the collector has responded to none of them', async () => {
  collector.answer.delayMs = NEVER_MS;
  const responses = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await postChat(gateway, { messages: saying('hello') });
      await response.text();
      return response.status;
    }),
  );
  expect(responses).toEqual(Array.from({ length: 20 }, () => 200));
  void gateway.deps.reporting.tracing?.flush(NEVER_MS);
  await until('the export', () => collector.requests.length > 0 || undefined);
  expect((await postChat(gateway, { messages: saying('hello') })).status).toBe(200);
  await gateway.untilSettled();
  expect(collector.answer.count).toBe(0);
});
