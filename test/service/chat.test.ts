import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  allEvents,
  type Counts,
  chunkSchema,
  MODEL,
  postChat,
  pricesOf,
  saying,
  sdkFor,
  spentBy,
} from '../support/gateway-chat.ts';

let vendor: Simulator;
let gateway: TestGateway;
let priceOf: (usage: Counts) => bigint;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url });
  priceOf = await pricesOf(gateway, MODEL);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const create = (messages: ReturnType<typeof saying>, rest: object = {}) =>
  sdkFor(gateway).chat.completions.create({ model: MODEL, messages, ...rest, stream: false });

test('CHAT-10 the SDK gets a plain answer with the catalog id and pays for its usage exactly', async () => {
  const { result, spent } = await spentBy(gateway, () => create(saying('Say hello')));
  expect(result).toMatchObject({ object: 'chat.completion', model: MODEL });
  expect(result.choices).toHaveLength(1);
  expect(result.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop', logprobs: null });
  expect(result.choices[0]?.message).toMatchObject({ role: 'assistant', refusal: null });
  expect(result.choices[0]?.message.content).toContain('You wrote: Say hello');
  expect(result.usage?.prompt_tokens_details?.cached_tokens).toBe(0);
  expect(spent).toBeGreaterThan(0n);
  expect(spent).toBe(priceOf(result.usage!));
});

test('BILL-18 cached prompt tokens are reported and cost what every prompt token costs', async () => {
  vendor.next({ claimedUsage: { input: 900, cached: 800, output: 7 } });
  const { result, spent } = await spentBy(gateway, () => create(saying('again')));
  expect(result.usage).toMatchObject({ prompt_tokens: 900, completion_tokens: 7 });
  expect(result.usage?.prompt_tokens_details?.cached_tokens).toBe(800);
  expect(spent).toBe(priceOf({ prompt_tokens: 900, completion_tokens: 7 }));
});

test('CHAT-11 the SDK gets a stream whose last chunk has the finish reason, the usage and the cost', async () => {
  const { result, spent } = await spentBy(gateway, async () => {
    const stream = await sdkFor(gateway).chat.completions.create({
      model: MODEL,
      messages: saying('Say hello'),
      stream: true,
    });
    return (await Array.fromAsync(stream)).map((chunk) => chunkSchema.parse(chunk));
  });
  expect(new Set(result.map(({ model }) => model))).toEqual(new Set([MODEL]));
  expect(new Set(result.map(({ id }) => id)).size).toBe(1);
  const last = result.at(-1);
  expect(last?.choices[0]?.finish_reason).toBe('stop');
  expect(result.slice(0, -1).every(({ choices, usage }) => choices[0]?.finish_reason === null && !usage)).toBe(true);
  expect(result.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toContain('You wrote: Say hello');
  expect(last?.usage?.cost).toBe(formatUsd(spent));
  expect(spent).toBe(priceOf(last!.usage!));
  expect(spent).toBeGreaterThan(0n);
});

test('CHAT-11 a stream has its headers, one line per event and [DONE] as the very last event', async () => {
  const response = await postChat(gateway, {
    messages: saying('hello'),
    stream: true,
    stream_options: { include_usage: false },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const events = await allEvents(response);
  expect(events.at(-1)).toBe('[DONE]');
  expect(events.filter((event) => event === '[DONE]')).toHaveLength(1);
  const last = chunkSchema.parse(JSON.parse(events.at(-2) ?? ''));
  expect(parseUsd(last.usage!.cost)).toBe(priceOf(last.usage!));
});

test('CHAT-3 n: 2 brings two plain answers and both are paid for', async () => {
  const { result, spent } = await spentBy(gateway, () => create(saying('twice'), { n: 2, max_tokens: 50 }));
  expect(result.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
    [0, 'stop'],
    [1, 'stop'],
  ]);
  expect(result.choices.every(({ message }) => message.content?.includes('twice'))).toBe(true);
  expect(spent).toBe(priceOf(result.usage!));
});

test('CHAT-11 n: 2 streamed brings both answers whole, both finish reasons and one usage at the end', async () => {
  const { result, spent } = await spentBy(gateway, async () => {
    const response = await postChat(gateway, { messages: saying('twice'), n: 2, stream: true });
    return allEvents(response);
  });
  expect(result.at(-1)).toBe('[DONE]');
  const chunks = result.slice(0, -1).map((event) => chunkSchema.parse(JSON.parse(event)));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  for (const wanted of [0, 1]) {
    const own = choices.filter(({ index }) => index === wanted);
    expect(own.map(({ delta }) => delta.content ?? '').join('')).toContain('You wrote: twice');
    expect(own.filter(({ finish_reason }) => finish_reason === 'stop')).toHaveLength(1);
  }
  expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
  expect(spent).toBe(priceOf(chunks.at(-1)!.usage!));
});

test('BILL-6 the cap of the client goes upstream as it is, and else the one the hold was made with', async () => {
  const own = await postChat(gateway, { messages: saying('a'), max_tokens: 77 });
  expect(own.headers.get('x-service-max-tokens')).toBeNull();
  const chosen = await postChat(gateway, { messages: saying('a') });
  const told = Number(chosen.headers.get('x-service-max-tokens'));
  expect(told).toBeGreaterThanOrEqual(256);
  expect(vendor.requests.map(({ body }) => body)).toMatchObject([
    { max_completion_tokens: 77 },
    { max_completion_tokens: told },
  ]);
});
