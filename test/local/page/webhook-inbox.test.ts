import { request } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { INBOX_PATH, type InboxState } from '../../../local/page/ui/wire.ts';
import { ask, postJson, type RawAnswer, startTestPage, type TestPage } from './local-page.ts';

let served: TestPage;
beforeEach(async () => {
  served = await startTestPage();
});
afterEach(async () => {
  vi.useRealTimers();
  await served.stop();
});

const json = { 'content-type': 'application/json' };

const deliver = (id: string, body = '{"type":"webhook.test"}', headers = {}): Promise<RawAnswer> =>
  ask(served.port, { method: 'POST', path: INBOX_PATH, headers: { ...json, 'webhook-id': id, ...headers }, body });

const inbox = async (): Promise<InboxState> => JSON.parse((await ask(served.port, { path: '/local/webhooks' })).body);

const answerWith = (answer: string): Promise<RawAnswer> => postJson(served.port, '/local/webhooks/answer', { answer });

test('HOOK-4 the inbox keeps the headers and the exact body of a delivery', async () => {
  const body = '{ "type": "webhook.test", "text": "é" }';
  expect((await deliver('evt_1', body, { 'webhook-signature': 'v1,abc' })).status).toBe(200);
  const { deliveries, answer } = await inbox();
  expect(answer).toBe('200');
  expect(deliveries).toMatchObject([
    { number: 1, id: 'evt_1', attempt: 1, answer: '200', body, headers: { 'webhook-signature': 'v1,abc' } },
  ]);
  expect(Math.abs((deliveries[0]?.at ?? 0) - Date.now())).toBeLessThan(60_000);
});

test('HOOK-4 the attempts of each event are counted, and the newest delivery is first', async () => {
  for (const id of ['evt_1', 'evt_2', 'evt_1', 'evt_1']) await deliver(id);
  await ask(served.port, { method: 'POST', path: INBOX_PATH, headers: json, body: '{}' });
  expect((await inbox()).deliveries.map(({ id, attempt }) => [id, attempt])).toEqual([
    [undefined, 1],
    ['evt_1', 3],
    ['evt_1', 2],
    ['evt_2', 1],
    ['evt_1', 1],
  ]);
});

test('HOOK-4 the inbox returns 500 to the next deliveries if it should, and 200 again later', async () => {
  await answerWith('500');
  expect((await deliver('evt_1')).status).toBe(500);
  expect((await deliver('evt_1')).status).toBe(500);
  await answerWith('200');
  expect((await deliver('evt_1')).status).toBe(200);
  expect((await inbox()).deliveries.map(({ answer }) => answer)).toEqual(['200', '500', '500']);
});

/** Starts a delivery and resolves when its connection closes without a response. */
const broken = (): Promise<string> =>
  new Promise((resolve) => {
    const sent = request({ port: served.port, host: '127.0.0.1', method: 'POST', path: INBOX_PATH, headers: json });
    sent.once('response', ({ statusCode }) => resolve(`status ${statusCode}`));
    sent.once('error', () => resolve('closed'));
    sent.end('{}');
  });

/** Lets only the test move the timers of waiting deliveries. `vi.waitFor` would move them, too. */
const stopTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

const untilListed = async (count: number): Promise<void> => {
  while ((await inbox()).deliveries.length < count);
};

test('HOOK-4 a delivery without a response is listed, and its connection closes after 15 s', async () => {
  await answerWith('timeout');
  stopTimers();
  let result: string | undefined;
  const end = broken().then((found) => {
    result = found;
  });
  await untilListed(1);
  expect(await inbox()).toMatchObject({ deliveries: [{ answer: 'timeout' }] });
  vi.advanceTimersByTime(14_999);
  await inbox();
  expect(result).toBeUndefined();
  vi.advanceTimersByTime(1);
  await end;
  expect(result).toBe('closed');
});

test('HOOK-4 at most 20 deliveries wait, and the end of the program closes them', async () => {
  await answerWith('timeout');
  stopTimers();
  const waiting = Array.from({ length: 20 }, broken);
  await untilListed(20);
  expect(await broken()).toBe('status 503');
  expect((await inbox()).deliveries).toHaveLength(20);
  served.page.stop();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['closed']));
});

test('HOOK-4 the inbox keeps the last 50 deliveries', async () => {
  for (let count = 1; count <= 52; count += 1) await deliver(`evt_${count}`);
  const { deliveries } = await inbox();
  expect([deliveries.length, deliveries[0]?.id, deliveries.at(-1)?.id]).toEqual([50, 'evt_52', 'evt_3']);
});

test('HOOK-4 a body above 64 KiB, or of other bytes than UTF-8, is rejected and not kept', async () => {
  const largest = `"${'a'.repeat(64 * 1_024 - 2)}"`;
  expect((await deliver('evt_1', largest)).status).toBe(200);
  expect((await deliver('evt_2', `${largest} `)).status).toBe(413);
  const bytes = await fetch(`http://127.0.0.1:${served.port}${INBOX_PATH}`, {
    method: 'POST',
    headers: json,
    body: Buffer.from([0x22, 0xff, 0x22]),
  });
  expect(bytes.status).toBe(400);
  expect((await inbox()).deliveries.map(({ id }) => id)).toEqual(['evt_1']);
});

test('HOOK-4 clearing removes every delivery', async () => {
  await deliver('evt_1');
  expect((await postJson(served.port, '/local/webhooks/clear', {})).status).toBe(200);
  expect((await inbox()).deliveries).toEqual([]);
});

test.each([
  ['another site', { origin: 'https://evil.example' }, 403],
  ['another site, by its fetch', { 'sec-fetch-site': 'cross-site' }, 403],
  ['another host name', { host: 'evil.example' }, 403],
  ['a form', { 'content-type': 'text/plain' }, 415],
])('HOOK-4 a delivery from %s is rejected by the guard of the page', async (_name, headers, status) => {
  expect((await deliver('evt_1', '{}', headers)).status).toBe(status);
  expect((await inbox()).deliveries).toEqual([]);
});

test('HOOK-4 another site can neither read the deliveries nor choose the response', async () => {
  await deliver('evt_1', '{"secret":"canary"}');
  const read = await ask(served.port, { path: '/local/webhooks', headers: { 'sec-fetch-site': 'cross-site' } });
  expect([read.status, read.body.includes('canary')]).toEqual([403, false]);
  const choice = await ask(served.port, {
    method: 'POST',
    path: '/local/webhooks/answer',
    headers: { ...json, 'sec-fetch-site': 'cross-site' },
    body: '{"answer":"500"}',
  });
  expect(choice.status).toBe(403);
  expect((await answerWith('404')).status).toBe(400);
  expect((await inbox()).answer).toBe('200');
});

test('HOOK-4 the state of the page has the URL of the inbox and the switch', async () => {
  const { webhooks } = JSON.parse((await ask(served.port, { path: '/local/state' })).body);
  expect(webhooks).toEqual({ inbox_url: `http://127.0.0.1:${served.port}${INBOX_PATH}`, other_ports: false });
});
