import { APIUserAbortError } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  type Counts,
  MODEL,
  postChat,
  pricesOf,
  readEvents,
  saying,
  sdkFor,
  spentBy,
} from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { openSocket, readToEnd } from '../support/gateway-socket.ts';

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

test('BILL-8 a client of the SDK that leaves mid-stream pays what the vendor reports at the end', async () => {
  vendor.next({ words: 60, pauseMs: 10, claimedUsage: { input: 123, output: 60 } });
  const { result: read, spent } = await spentBy(gateway, async () => {
    const stream = await sdkFor(gateway).chat.completions.create({
      model: MODEL,
      messages: saying('a long one'),
      stream: true,
    });
    let chunks = 0;
    for await (const _chunk of stream) {
      chunks += 1;
      if (chunks === 3) break;
    }
    const account = await gateway.account();
    expect(account.openHolds).toBe(1);
    expect(account.balance - account.available).toBe(account.held);
    return chunks;
  });
  expect(read).toBe(3);
  expect(vendor.requests[0]?.outcome).toBe('answered');
  expect(spent).toBe(priceOf({ prompt_tokens: 123, completion_tokens: 60 }));
});

test('BILL-8 a client that leaves before a plain answer pays for it', async () => {
  const gate = vendor.gate();
  vendor.next({ claimedUsage: { input: 50, output: 9 } });
  const { result: error, spent } = await spentBy(gateway, async () => {
    const leaving = new AbortController();
    const pending = sdkFor(gateway).chat.completions.create(
      { model: MODEL, messages: saying('hello') },
      { signal: leaving.signal },
    );
    const outcome = pending.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await within('the request at the vendor', gate.waitFor(1));
    leaving.abort();
    const thrown = await outcome;
    gate.open();
    return thrown;
  });
  expect(error).toBeInstanceOf(APIUserAbortError);
  expect(spent).toBe(priceOf({ prompt_tokens: 50, completion_tokens: 9 }));
});

test('BILL-9 a client that leaves a stream which then fails pays nothing', async () => {
  vendor.next({ words: 60, pauseMs: 10, cutAfter: 30 });
  const { spent } = await spentBy(gateway, async () => {
    const leaving = new AbortController();
    const response = await postChat(gateway, { messages: saying('a long one'), stream: true }, leaving.signal);
    const first = await readEvents(response).next();
    expect(first.done).toBe(false);
    leaving.abort();
  });
  expect(vendor.requests[0]?.outcome).toBe('cut');
  expect(spent).toBe(0n);
});

const BYTES = 8_388_608;

test('BILL-8 a client that reads nothing of 8 MiB pays for them and holds nobody up', async () => {
  const body = JSON.stringify({
    model: MODEL,
    messages: saying(`[[bytes ${BYTES}]] [[usage-prompt 40]] [[tokens 1000]]`),
    max_tokens: 1_000,
    stream: true,
  });
  const socket = await openSocket(gateway.url);
  const { spent } = await spentBy(gateway, async () => {
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${gateway.apiKey}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    // Only once the money is held is "nothing held" the end of it.
    await expect.poll(() => vendor.requests.length, { timeout: 10_000 }).toBe(1);
  });
  expect(vendor.requests[0]?.outcome).toBe('answered');
  expect(spent).toBe(priceOf({ prompt_tokens: 40, completion_tokens: 1_000 }));

  const meanwhile = await postChat(gateway, { messages: saying('still there?') });
  expect(meanwhile.status).toBe(200);

  // What had no room is not made up for: a client that was given less is not told that it has everything.
  const received = await readToEnd(socket);
  expect(received.length).toBeLessThan(BYTES);
  expect(received.includes('[DONE]')).toBe(false);
});

test('BILL-8 a client that keeps up with its 8 MiB gets all of them', async () => {
  // The reader shares this process with the vendor, who leaves it some room to keep up.
  vendor.next({ textBytes: BYTES, pauseMs: 1, claimedUsage: { input: 40, output: 1_000 } });
  const { result: length, spent } = await spentBy(gateway, async () => {
    const response = await postChat(gateway, { messages: saying('all'), max_tokens: 1_000, stream: true });
    let characters = 0;
    let last = '';
    for await (const event of readEvents(response)) {
      characters += /"content":"(abcdefg [^"]*)"/.exec(event)?.[1]?.length ?? 0;
      last = event;
    }
    expect(last.slice(0, 100)).toBe('[DONE]');
    return characters;
  });
  expect(length).toBe(BYTES);
  expect(spent).toBe(priceOf({ prompt_tokens: 40, completion_tokens: 1_000 }));
});
