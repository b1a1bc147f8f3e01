import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, postJson, startTestPage, type TestPage } from './local-page.ts';

let served: TestPage;
beforeEach(async () => {
  served = await startTestPage();
});
afterEach(() => served.stop());

type Told = { readonly id: string; readonly event: string; readonly data: Record<string, unknown> };

/** Reads events until `count` have arrived or the stream ends. */
async function follow(count: number, lastEventId?: string): Promise<readonly Told[]> {
  const response = await fetch(`http://127.0.0.1:${served.port}/local/events`, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  });
  const told: Told[] = [];
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id, event, data] = /^id: (.+)\nevent: (.+)\ndata: (.+)$/.exec(block) ?? [];
      if (id && event && data) told.push({ id, event, data: JSON.parse(data) });
    }
    if (told.length >= count) return told;
  }
  return told;
}

test('a new page gets all earlier events, and a reconnecting page only those it missed', async () => {
  await postJson(served.port, '/local/fault', { vendor: 'openai', fault: 'slow' });
  await postJson(served.port, '/local/fault', { vendor: 'openai', fault: 'none' });
  const [first, second] = await follow(2);
  expect([first?.event, second?.event]).toEqual(['vendors', 'vendors']);
  const next = follow(1, second?.id);
  await postJson(served.port, '/local/say', { text: 'hello', language: 'ru' });
  expect(await next).toMatchObject([{ event: 'message', data: { from: 'user', text: 'hello' } }]);
});

test("a request event has no query, which may hold a key, and the page's requests have no event", async () => {
  await ask(served.port, { path: '/v1beta/models?key=sk-service-secret' });
  await ask(served.port, { path: '/local/state' });
  await ask(served.port, { path: '/api/account', headers: { 'x-local-page': 'own' } });
  await ask(served.port, { path: '/app/main.js' });
  await ask(served.port, { method: 'POST', path: '/bot' });
  const told = await follow(2);
  expect(told.map(({ data }) => [data.method, data.path, data.status])).toEqual([
    ['GET', '/v1beta/models', 204],
    ['POST', '/bot', 204],
  ]);
  expect(JSON.stringify(told)).not.toContain('secret');
});

test('a stop ends open streams cleanly, and ends a new stream immediately', async () => {
  const running = follow(100);
  await postJson(served.port, '/local/say', { text: 'hello', language: 'en' });
  await follow(1);
  served.page.stop();
  expect(await running).toHaveLength(1);
  expect(await follow(1)).toEqual([]);
});

test("messages in another user's chat do not appear", async () => {
  served.messenger.say({ id: 7, firstName: 'Somebody', language: 'en' }, 'psst');
  await postJson(served.port, '/local/say', { text: 'hello', language: 'en' });
  expect((await follow(1)).map(({ data }) => data.text)).toEqual(['hello']);
});
