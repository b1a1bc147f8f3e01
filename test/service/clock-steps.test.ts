import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type InProcessGateway, startInProcess, TEST_DAY } from '../support/in-process-gateway.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** A provider that answers when the test lets it. */
const waiting: ServerResponse[] = [];
const provider = createServer((request, response) => {
  request.resume().on('end', () => waiting.push(response));
});
let vendorUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  vendorUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(() => {
  provider.closeAllConnections();
  provider.close();
});

let gateway: InProcessGateway | undefined;
afterEach(async () => {
  waiting.length = 0;
  await gateway?.stop();
});

const completion = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ok' } }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

const answerAll = (): void => {
  for (const response of waiting.splice(0))
    response.writeHead(200, { 'content-type': 'application/json' }).end(completion);
};

const chat = (url: string, apiKey: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4.1-mini', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }),
  });

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
};

const start = async () => {
  const time = { nowMs: TEST_DAY };
  const started = await startInProcess({ vendorUrl, now: () => time.nowMs });
  gateway = started;
  const { accountId, apiKey } = await started.issue({ balanceUsd: '1' });
  const send = async (count: number) => {
    const keyed = chat(started.url, apiKey, { 'idempotency-key': 'key-1' });
    const sent = [keyed, ...Array.from({ length: count - 1 }, () => chat(started.url, apiKey))];
    await until(() => waiting.length === count);
    return async (): Promise<readonly number[]> => {
      answerAll();
      return (await Promise.all(sent)).map(({ status }) => status);
    };
  };
  const expectCharged = async (count: number): Promise<void> => {
    await started.sweep();
    expect((await started.recordsOf(accountId)).map(({ outcome }) => outcome)).toEqual(Array(count).fill('settled'));
    expect((await started.ledger.readAccount(accountId))?.holds.size).toBe(0);
    expect((await started.audit()).map(({ findings }) => findings)).toEqual([[]]);
  };
  return { time, send, expectCharged, sweep: started.sweep };
};

test.each([-SECOND_MS, -10 * SECOND_MS, -HOUR_MS, -30 * DAY_MS, HOUR_MS, 40 * DAY_MS])(
  'BILL-13 requests in progress while the clock steps by %d ms are charged',
  async (stepMs) => {
    const { time, send, sweep, expectCharged } = await start();
    const answers = await send(3);
    time.nowMs += stepMs;
    await sweep();
    expect(await answers()).toEqual([200, 200, 200]);
    await expectCharged(3);
  },
);

test.each([HOUR_MS, 40 * DAY_MS])(
  'BILL-13 requests of a clock that was %d ms ahead are charged after its correction',
  async (stepMs) => {
    const { time, send, sweep, expectCharged } = await start();
    time.nowMs += stepMs;
    const answers = await send(3);
    time.nowMs -= stepMs;
    await sweep();
    expect(await answers()).toEqual([200, 200, 200]);
    await expectCharged(3);
  },
);
