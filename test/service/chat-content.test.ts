import { BadRequestError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { type Counts, MODEL, pricesOf, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';

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

const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const question = { role: 'user' as const, content: 'How is the weather in Paris and in Tokyo?' };
const cityOf = (text: string): string => z.object({ city: z.string() }).parse(JSON.parse(text)).city;

test('CHAT-5 a whole round of parallel tool calls, plain', async () => {
  const { completions } = sdkFor(gateway).chat;
  const { result, spent } = await spentBy(gateway, async () => {
    const asked = await completions.create({ model: MODEL, messages: [question], tools });
    const message = asked.choices[0]!.message;
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect(message.content).toBeNull();
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    expect(calls.map((call) => cityOf(call.function.arguments))).toEqual(['Paris', 'Tokyo']);
    const results = calls.map(({ id, function: { arguments: text } }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `${cityOf(text)}: 21 degrees`,
    }));
    const answered = await completions.create({ model: MODEL, messages: [question, message, ...results], tools });
    return { asked, answered };
  });
  expect(result.answered.choices[0]?.finish_reason).toBe('stop');
  expect(result.answered.choices[0]?.message.content).toBe(
    'According to the tool: Paris: 21 degrees; Tokyo: 21 degrees',
  );
  expect(spent).toBe(priceOf(result.asked.usage!) + priceOf(result.answered.usage!));
});

test('CHAT-5 a whole round of parallel tool calls, streamed and put together by the SDK', async () => {
  const { completions } = sdkFor(gateway).chat;
  const { result, spent } = await spentBy(gateway, async () => {
    const asked = await completions.stream({ model: MODEL, messages: [question], tools }).finalChatCompletion();
    const message = asked.choices[0]!.message;
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(calls.map((call) => cityOf(call.function.arguments))).toEqual(['Paris', 'Tokyo']);
    const results = calls.map(({ id, function: { arguments: text } }) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: `${cityOf(text)}: rain`,
    }));
    const { role, content, tool_calls } = message;
    const answered = await completions
      .stream({ model: MODEL, messages: [question, { role, content, tool_calls }, ...results], tools })
      .finalChatCompletion();
    return { asked, answered };
  });
  expect(result.answered.choices[0]?.message.content).toBe('According to the tool: Paris: rain; Tokyo: rain');
  expect(spent).toBe(priceOf(result.asked.usage!) + priceOf(result.answered.usage!));
});

test('CHAT-8 json_schema reaches the vendor and the answer fits it', async () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
    additionalProperties: false,
  };
  const answer = await sdkFor(gateway).chat.completions.create({
    model: MODEL,
    messages: saying('Invent a person'),
    response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
  });
  const person = z.strictObject({ name: z.string(), age: z.int() });
  expect(person.parse(JSON.parse(answer.choices[0]?.message.content ?? ''))).toBeDefined();
  expect(vendor.requests.at(-1)?.body).toMatchObject({ response_format: { json_schema: { schema } } });
});

test('CHAT-8 json_object answers JSON when the prompt asks for it', async () => {
  const answer = await sdkFor(gateway).chat.completions.create({
    model: MODEL,
    messages: saying('Answer in JSON'),
    response_format: { type: 'json_object' },
  });
  expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ answer: 'Answer in JSON' });
});

test('CHAT-8 the refusal of json_object without the word json is passed on and costs nothing', async () => {
  const { result: error, spent } = await spentBy(gateway, () =>
    sdkFor(gateway)
      .chat.completions.create({ model: MODEL, messages: saying('Answer'), response_format: { type: 'json_object' } })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      ),
  );
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({
    status: 400,
    code: 'invalid_request_error',
    type: 'invalid_request_error',
    param: 'messages',
    message: expect.stringContaining("must contain the word 'json'"),
  });
  expect(spent).toBe(0n);
});

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const showing = (url: string) => [
  {
    role: 'user' as const,
    content: [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url } },
    ],
  },
];

test('CHAT-6 an image as a data URI reaches the vendor unchanged and its tokens are paid for', async () => {
  const { result, spent } = await spentBy(gateway, () =>
    sdkFor(gateway).chat.completions.create({ model: MODEL, messages: showing(pixel) }),
  );
  expect(result.choices[0]?.message.content).toContain('I see 1 image(s): image/png.');
  expect(vendor.requests.at(-1)?.body).toMatchObject({ messages: showing(pixel) });
  expect(spent).toBe(priceOf(result.usage!));
});

test('CHAT-6 a data URI that is no image is refused before the vendor is asked', async () => {
  const asked = vendor.requests.length;
  const text = `data:image/png;base64,${Buffer.from('not an image at all').toString('base64')}`;
  const pending = sdkFor(gateway).chat.completions.create({ model: MODEL, messages: showing(text) });
  await expect(pending).rejects.toMatchObject({
    status: 400,
    code: 'invalid_image_format',
    param: 'messages[0].content[1].image_url.url',
  });
  expect(vendor.requests).toHaveLength(asked);
});
