import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { type Collector, SERVER, startCollector } from '../support/otlp-collector.ts';
import { startProgram, type TestProgram } from '../support/program.ts';

let vendor: Simulator;
let collector: Collector;
beforeAll(async () => {
  vendor = await startSimulator();
  collector = await startCollector();
});
beforeEach(() => collector.clear());
afterAll(async () => {
  await collector.stop();
  await vendor.stop();
});

const start = (): Promise<TestProgram> =>
  startProgram({ vendorUrl: vendor.url, environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });

/** Sends a request, and SIGTERM with its last byte. Returns the exit code of the program. */
const chatAndEnd = async (program: TestProgram): Promise<number | null> => {
  const response = await postChat(program, { messages: saying('hello') });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('choices')]);
  return program.kill('SIGTERM');
};

test('OPS-19 a program that ends right after a request sends its spans', async () => {
  const program = await start();
  expect(await chatAndEnd(program)).toBe(0);
  const spans = collector.spans();
  const root = spans.find(({ kind, name }) => kind === SERVER && name === 'POST /v1/chat/completions');
  expect(spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId).map(({ name }) => name)).toEqual([
    'admission',
    'hold',
    `chat ${program.model}`,
    'settle',
  ]);
  await program.stop();
});

test('OPS-19 a program ends although its collector never responds', async () => {
  collector.answer.delayMs = 1_000_000_000;
  const program = await start();
  expect(await chatAndEnd(program)).toBe(0);
  expect(collector.requests.length).toBeGreaterThan(0);
  expect(collector.answer.count).toBe(0);
  await program.stop();
});
