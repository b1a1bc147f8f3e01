import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, postJson, startTestPage, type TestPage } from './local-page.ts';

let served: TestPage;
beforeAll(async () => {
  served = await startTestPage({ GEMINI_API_KEY: 'of the user' });
});
afterAll(() => served.stop());

const breakVendor = (vendor: string, fault: string) => postJson(served.port, '/local/fault', { vendor, fault });

/** Sends a simulated provider a request like the gateway's. */
async function askVendor(): Promise<Response> {
  const { environment } = served;
  return fetch(`${environment.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${environment.OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1-mini', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
  });
}

test('a fault of one provider does not affect the others', async () => {
  const { ARK_BASE_URL, ARK_API_KEY } = served.environment;
  const askOther = () =>
    fetch(`${ARK_BASE_URL}/contents/generations/tasks/none`, { headers: { authorization: `Bearer ${ARK_API_KEY}` } });
  expect((await askOther()).status).toBe(404);
  await breakVendor('byteplus', 'status 500');
  expect((await askOther()).status).toBe(500);
  expect((await askVendor()).status).toBe(200);
  await breakVendor('byteplus', 'none');
  expect((await askOther()).status).toBe(404);
});

test('a real provider gets no fault, and the state shows which provider is real', async () => {
  expect((await breakVendor('google', 'status 500')).status).toBe(409);
  const { body } = await ask(served.port, { path: '/local/state' });
  const vendors: { id: string; is_simulated: boolean; fault: string }[] = JSON.parse(body).vendors;
  expect(vendors.filter(({ is_simulated }) => !is_simulated).map(({ id }) => id)).toEqual(['google']);
  expect(vendors.every(({ fault }) => fault === 'none')).toBe(true);
});

test.each([
  ['unknown', 'hang', 404],
  ['openai', 'explode', 400],
  ['openai', 'toString', 400],
])('provider %s with fault %s gets status %i', async (vendor, fault, status) => {
  expect((await breakVendor(vendor, fault)).status).toBe(status);
});
