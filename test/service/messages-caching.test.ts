import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { postChat, pricesOf, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { anthropicFor, ask, asking, HAIKU } from '../support/messages-client.ts';
import { messagePrices, messageRates } from '../support/messages-prices.ts';

let vendor: Simulator;
let gateway: TestGateway;
let client: Anthropic;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url });
  client = anthropicFor(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const minutes = { type: 'ephemeral' as const };
const hour = { type: 'ephemeral' as const, ttl: '1h' as const };
const rules = (name: string): string => `Rules of ${name}. ${'Be brief and kind. '.repeat(60)}`;
const words = (name: string): string => `Something about ${name}. ${'And so on. '.repeat(30)}`;

type Body = Anthropic.MessageCreateParamsNonStreaming;

/** Counts that a prompt's own cache has, each a number. */
const countsOf = ({ input_tokens, cache_read_input_tokens: read, cache_creation: written }: Anthropic.Usage) => ({
  input: input_tokens,
  read: read ?? -1,
  short: written?.ephemeral_5m_input_tokens ?? -1,
  long: written?.ephemeral_1h_input_tokens ?? -1,
});

const ways: readonly [string, string, (body: Body) => Promise<Anthropic.Message>][] = [
  // Its reads cost a twentieth of input, not a tenth.
  ['claude-opus-5-5', 'plain', (body) => client.messages.create(body)],
  ['claude-opus-5-5', 'streamed', (body) => client.messages.stream(body).finalMessage()],
  [HAIKU, 'plain', (body) => client.messages.create(body)],
  [HAIKU, 'streamed', (body) => client.messages.stream(body).finalMessage()],
];

test.each(ways)(
  'BILL-12, MSG-5 three turns with %s (%s) write to the cache, then read, at its own rates',
  async (model, way, run) => {
    const name = `${model} ${way}`;
    const priceOf = await messagePrices(gateway, model);
    const system = [{ type: 'text' as const, text: rules(name), cache_control: hour }];
    const messages: Anthropic.MessageParam[] = [];
    const counts: ReturnType<typeof countsOf>[] = [];
    for (const turn of ['one', 'two', 'three']) {
      const content = [{ type: 'text' as const, text: words(`${turn} of ${name}`), cache_control: minutes }];
      messages.push({ role: 'user', content });
      const { result, spent } = await spentBy(gateway, () => run({ ...ask, model, system, messages }));
      expect(vendor.requests.at(-1)?.body).toMatchObject({ system, messages });
      expect(spent).toBe(priceOf(result.usage));
      counts.push(countsOf(result.usage));
      messages.push({ role: 'assistant', content: result.content });
    }
    const [first, second, third] = counts;
    expect(first).toMatchObject({ read: 0, short: expect.any(Number), long: expect.any(Number) });
    expect(Math.min(first!.short, first!.long, second!.short, third!.short)).toBeGreaterThan(0);
    expect(second).toMatchObject({ read: first!.short + first!.long, long: 0 });
    expect(third).toMatchObject({ read: second!.read + second!.short, long: 0 });
  },
);

/** USD for a million tokens, in pico-USD. */
const perMillion = (usd: number): bigint => BigInt(usd * 1_000) * 1_000_000_000n;

test.each([
  ['claude-opus-5-5', { input: 4, cache_write_5m: 5, cache_write_1h: 8, cache_read: 0.2, output: 20 }],
  ['claude-sonnet-5-5', { input: 2, cache_write_5m: 2.5, cache_write_1h: 4, cache_read: 0.1, output: 10 }],
  [HAIKU, { input: 1, cache_write_5m: 1.25, cache_write_1h: 2, cache_read: 0.1, output: 5 }],
])('BILL-12 the public list has the cache rates of %s', async (model, usd) => {
  const wanted = Object.fromEntries(Object.entries(usd).map(([name, value]) => [name, perMillion(value)]));
  expect(await messageRates(gateway, model)).toMatchObject(wanted);
});

test('BILL-12 the same tokens cost 1.25 times, twice and a tenth of the input price by what the cache does with them', async () => {
  const costOf = async (system: Anthropic.TextBlockParam[], name: string) => {
    const { result, spent } = await spentBy(gateway, () =>
      client.messages.create({ ...ask, system, messages: asking(`Anything about ${name}?`) }),
    );
    return { counts: countsOf(result.usage), spent, output: BigInt(result.usage.output_tokens) * 5_000_000n };
  };
  for (const [name, cache_control, factor] of [
    ['short', minutes, 1_250_000n],
    ['long_', hour, 2_000_000n],
  ] as const) {
    const system = [{ type: 'text' as const, text: rules(`factor ${name}`), cache_control }];
    const plain = await costOf([{ type: 'text', text: rules(`factor ${name}`) }], name);
    const written = await costOf(system, name);
    const read = await costOf(system, name);
    const kept = plain.counts.input - written.counts.input;
    expect(kept).toBeGreaterThan(0);
    expect([written.counts.short + written.counts.long, read.counts.read]).toEqual([kept, kept]);
    const rest = BigInt(written.counts.input) * 1_000_000n;
    expect(plain.spent - plain.output - rest).toBe(BigInt(kept) * 1_000_000n);
    expect(written.spent - written.output - rest).toBe(BigInt(kept) * factor);
    expect(read.spent - read.output - rest).toBe(BigInt(kept) * 100_000n);
  }
});

test('MSG-5 cache_control passes unchanged wherever the vendor takes it', async () => {
  const body = {
    ...ask,
    cache_control: minutes,
    tools: [{ name: 'now', input_schema: { type: 'object' as const }, cache_control: hour }],
    tool_choice: { type: 'none' as const },
    system: [{ type: 'text' as const, text: words('everywhere'), cache_control: hour }],
    messages: [
      ...asking('What time is it?'),
      { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'now', input: {} }] },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'noon', cache_control: minutes }],
      },
    ],
  };
  const priceOf = await messagePrices(gateway, HAIKU);
  const { result, spent } = await spentBy(gateway, () => client.messages.create(body));
  expect(vendor.requests[0]?.body).toEqual(body);
  expect(countsOf(result.usage)).toMatchObject({ read: 0, long: expect.any(Number), short: expect.any(Number) });
  expect(spent).toBe(priceOf(result.usage));
});

test('BILL-5 the hold of a prompt covers what writing it to the cache would cost', async () => {
  const heldFor = async (cache_control?: typeof minutes | typeof hour): Promise<bigint> => {
    const gate = vendor.gate();
    const system = [{ type: 'text' as const, text: rules('the hold'), ...(cache_control && { cache_control }) }];
    const pending = client.messages.create({ ...ask, max_tokens: 1, system });
    await within('the request at the vendor', gate.waitFor(1));
    const { held } = await gateway.account();
    gate.open();
    await pending;
    await gateway.untilSettled();
    vendor.reset();
    return held;
  };
  const [plain, short, long] = [await heldFor(), await heldFor(minutes), await heldFor(hour)];
  // The marker itself is some bytes of the body, too.
  expect(Number(short) / Number(plain)).toBeGreaterThanOrEqual(1.24);
  expect(Number(long) / Number(plain)).toBeGreaterThanOrEqual(1.99);
});

test('MSG-5 a cap of 0 fills the cache, and that is what it costs', async () => {
  const system = [{ type: 'text' as const, text: rules('warming up'), cache_control: hour }];
  const priceOf = await messagePrices(gateway, HAIKU);
  const { result, spent } = await spentBy(gateway, () => client.messages.create({ ...ask, max_tokens: 0, system }));
  expect(result.usage.output_tokens).toBe(0);
  expect(countsOf(result.usage).long).toBeGreaterThan(0);
  expect(spent).toBe(priceOf(result.usage));
});

const completionSchema = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
});

test('BILL-18 the same conversation on chat is not cached, and every prompt token costs 1x', async () => {
  const priceOf = await pricesOf(gateway, HAIKU);
  const system = { role: 'system' as const, content: [{ type: 'text', text: rules('chat'), cache_control: hour }] };
  const turns: object[] = [system];
  for (const turn of ['one', 'two', 'three']) {
    turns.push({ role: 'user', content: [{ type: 'text', text: words(turn), cache_control: minutes }] });
    const { result, spent } = await spentBy(gateway, async () => {
      const response = await postChat(gateway, { model: HAIKU, messages: turns, max_tokens: 200 });
      expect(response.status).toBe(200);
      return completionSchema.parse(await response.json());
    });
    expect(JSON.stringify(vendor.requests.at(-1)?.body)).not.toContain('cache_control');
    expect(spent).toBe(priceOf(result.usage));
    turns.push({ role: 'assistant', content: result.choices[0].message.content });
  }
});

test.each([false, true])(
  'BILL-18 what the vendor read from a cache is told on chat and costs 1x (streamed: %s)',
  async (stream) => {
    const priceOf = await pricesOf(gateway, HAIKU);
    vendor.next({ claimedUsage: { input: 100, cached: 800, output: 7 } });
    const { result, spent } = await spentBy(gateway, async () => {
      const messages = [{ role: 'user' as const, content: 'again' }];
      if (!stream) return (await sdkFor(gateway).chat.completions.create({ model: HAIKU, messages })).usage;
      const chunks = await sdkFor(gateway).chat.completions.create({ model: HAIKU, messages, stream });
      return (await Array.fromAsync(chunks)).at(-1)?.usage;
    });
    expect(result).toMatchObject({
      prompt_tokens: 900,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 800 },
    });
    expect(spent).toBe(priceOf({ prompt_tokens: 900, completion_tokens: 7 }));
  },
);
