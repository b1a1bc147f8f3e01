import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { MODEL, postChat, readEvents, saying } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';

/** A vendor whose every event is written by hand, so that a test decides what has been sent and what has not. */
const calls: ((response: ServerResponse) => void)[] = [];
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  calls.shift()?.(response);
});
let gateway: TestGateway;

beforeAll(async () => {
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  gateway = await startGateway({ vendorUrl: `http://127.0.0.1:${port}` });
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1 };
const chunk = (model: string, content: string): string =>
  JSON.stringify({ ...head, model, choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const finish = (model: string): string =>
  JSON.stringify({ ...head, model, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = (model: string): string =>
  JSON.stringify({ ...head, model, choices: [], usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 } });

/** Asks for a stream and answers both of its ends. */
async function open(first: string) {
  const arrived = Promise.withResolvers<ServerResponse>();
  calls.push(arrived.resolve);
  const pending = postChat(gateway, { messages: saying('hello'), stream: true });
  const upstream = await within('the call', arrived.promise);
  const send = (data: string) => upstream.write(`data: ${data}\n\n`);
  send(first);
  const events = readEvents(await within('the status line', pending));
  const next = async (): Promise<string> => {
    const event = await within('an event', events.next(), 10_000);
    return event.done ? 'the end' : event.value;
  };
  return { send, next, end: () => upstream.end() };
}

test('CHAT-11 each chunk is readable before the vendor sends the next one', async () => {
  const stream = await open(chunk(MODEL, 'piece 0'));
  expect(await stream.next()).toBe(chunk(MODEL, 'piece 0'));
  for (let index = 1; index < 20; index += 1) {
    stream.send(chunk(MODEL, `piece ${index}`));
    // Only now, with the chunk in hand, does the loop come to the next one.
    expect(await stream.next()).toBe(chunk(MODEL, `piece ${index}`));
  }
  stream.send(finish(MODEL));
  stream.send(usage(MODEL));
  stream.send('[DONE]');
  stream.end();
  const last: unknown = JSON.parse(await stream.next());
  expect(last).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 6, cost: expect.stringMatching(/^0\.\d+$/) },
  });
  expect([await stream.next(), await stream.next()]).toEqual(['[DONE]', 'the end']);
});

test('CHAT-11 a chunk passes as it was written, but for a model that is not the catalog id', async () => {
  const odd = (model: string, index: number): string =>
    `{"choices" : [{"finish_reason":null,"delta":{"content":"\\u00e9 ${index}"},"index":0}], "x_vendor":{"a":[1.0,1e2]}, "model":"${model}", "id":"chatcmpl-1","object":"chat.completion.chunk","created":1}`;
  const stream = await open(odd('gpt-4.1-mini-2025-04-14', 0));
  expect(await stream.next()).toBe(odd(MODEL, 0));
  stream.send(odd('gpt-4.1-mini-2025-04-14', 1));
  expect(await stream.next()).toBe(odd(MODEL, 1));
  stream.send(odd(MODEL, 2));
  expect(await stream.next()).toBe(odd(MODEL, 2));
  for (const event of [finish(MODEL), usage(MODEL), '[DONE]']) stream.send(event);
  stream.end();
  expect(JSON.parse(await stream.next())).toMatchObject({ model: MODEL });
  expect(await stream.next()).toBe('[DONE]');
});

test('CHAT-11 the end is not told before the usage is there', async () => {
  const stream = await open(chunk(MODEL, 'all'));
  await stream.next();
  stream.send(finish(MODEL));
  const held = stream.next();
  expect((await gateway.account()).openHolds).toBe(1);
  stream.send(usage(MODEL));
  stream.send('[DONE]');
  stream.end();
  expect(JSON.parse(await held)).toMatchObject({ usage: { completion_tokens: 6 } });
  expect((await gateway.untilSettled()).openHolds).toBe(0);
});
