import { expect, test } from 'vitest';
import { MODEL, postChat, readEvents, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { asking, GEMINI, googleFor, postGoogle } from '../support/google-client.ts';
import { anthropicFor, ask, HAIKU, thrownBy } from '../support/messages-client.ts';
import { tokenPricesOf } from '../support/protocol-prices.ts';
import { PRO } from '../support/responses-client.ts';
import { openSocket, readToEnd } from './gateway-socket.ts';
import { readElements } from './google-array.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated();

interface Client {
  readonly name: string;
  readonly model: string;
  plain(signal: AbortSignal): PromiseLike<unknown>;
  /** Opens a stream. */
  stream(signal: AbortSignal): PromiseLike<AsyncIterable<unknown>>;
}

const chat = { model: MODEL, messages: saying('a long one') };
const responses = { model: PRO, input: 'a long one' };
const google = (abortSignal: AbortSignal) => ({ model: GEMINI, contents: 'a long one', config: { abortSignal } });

const clients: readonly Client[] = [
  {
    name: 'chat',
    model: MODEL,
    plain: (signal) => sdkFor(gateway).chat.completions.create(chat, { signal }),
    stream: (signal) => sdkFor(gateway).chat.completions.create({ ...chat, stream: true }, { signal }),
  },
  {
    name: 'responses',
    model: PRO,
    plain: (signal) => sdkFor(gateway).responses.create(responses, { signal }),
    stream: (signal) => sdkFor(gateway).responses.create({ ...responses, stream: true }, { signal }),
  },
  {
    name: 'messages',
    model: HAIKU,
    plain: (signal) => anthropicFor(gateway).messages.create(ask, { signal }),
    stream: (signal) => anthropicFor(gateway).messages.create({ ...ask, stream: true }, { signal }),
  },
  {
    name: 'generateContent',
    model: GEMINI,
    plain: (signal) => googleFor(gateway).models.generateContent(google(signal)),
    stream: (signal) => googleFor(gateway).models.generateContentStream(google(signal)),
  },
];
const array: Client = {
  ...clients[3]!,
  name: 'generateContent as one array',
  stream: async (signal) =>
    readElements(await postGoogle(gateway, 'streamGenerateContent', asking('a long one'), { signal })),
};

const priceOf = async (model: string, input: number, output: number): Promise<bigint> => {
  const { atOneRate } = await tokenPricesOf(gateway, model);
  return atOneRate({ input, output, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 });
};

/** Reads three events and leaves. The hold stays open. */
const leaveMidStream = ({ stream }: Client) =>
  spentBy(gateway, async () => {
    const leaving = new AbortController();
    let events = 0;
    const reading = async () => {
      for await (const _event of await stream(leaving.signal)) {
        events += 1;
        if (events === 3) break;
      }
    };
    await reading();
    leaving.abort();
    const { openHolds, balance, available, held } = await gateway.account();
    const isRunning = vendor.requests[0]?.outcome === 'open';
    if (isRunning) expect([openHolds, balance - available]).toEqual([1, held]);
  });

const slow = { words: 60, pauseMs: 2 };

test.each([...clients, array])(
  'BILL-8 a client of $name that leaves mid-stream pays the usage that the provider reports',
  async (client) => {
    vendor.next({ ...slow, claimedUsage: { input: 123, output: 60, reasoning: 0 } });
    const { spent } = await leaveMidStream(client);
    expect(vendor.requests[0]?.outcome).toBe('answered');
    expect(spent).toBe(await priceOf(client.model, 123, 60));
  },
);

test.each(clients)('BILL-9 a client of $name that leaves a stream which then fails pays nothing', async (client) => {
  vendor.next({ ...slow, cutAfter: 30 });
  const { spent } = await leaveMidStream(client);
  expect([vendor.requests[0]?.outcome, spent]).toEqual(['cut', 0n]);
});

test.each(clients)('BILL-8 a client of $name that leaves before a plain response pays for it', async (client) => {
  const gate = vendor.gate();
  vendor.next({ claimedUsage: { input: 50, output: 41, reasoning: 0 } });
  const { result: error, spent } = await spentBy(gateway, async () => {
    const leaving = new AbortController();
    const thrown = thrownBy(client.plain(leaving.signal));
    await within('the request at the provider', gate.waitFor(1));
    leaving.abort();
    await thrown;
    gate.open();
    return thrown;
  });
  expect(String(error)).toMatch(/abort/i);
  expect(vendor.requests[0]?.outcome).toBe('answered');
  expect(spent).toBe(await priceOf(client.model, 50, 41));
});

const BYTES = 8_388_608;

test('BILL-8 a client that reads nothing of 8 MiB pays for all and blocks no other client', async () => {
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
    // The poll for "no hold" below is meaningful only after the hold was placed.
    await expect.poll(() => vendor.requests.length, { timeout: 10_000 }).toBe(1);
  });
  expect(vendor.requests[0]?.outcome).toBe('answered');
  expect(spent).toBe(await priceOf(MODEL, 40, 1_000));

  const meanwhile = await postChat(gateway, { messages: saying('still there?') });
  expect(meanwhile.status).toBe(200);

  // The gateway drops data above its buffer, so this stream must not look complete.
  const received = await readToEnd(socket);
  expect(received.length).toBeLessThan(BYTES);
  expect(received.includes('[DONE]')).toBe(false);
});

test('BILL-8 a client that reads 8 MiB fast enough gets every byte', async () => {
  // The client runs in the same process as the provider, so the pauses of the provider let the client keep up.
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
  expect(spent).toBe(await priceOf(MODEL, 40, 1_000));
});
