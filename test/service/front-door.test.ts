import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const SECRET = 'the-origin-secret-of-this-test';
let gateway: TestGateway;

beforeAll(async () => {
  const environment = {
    FRONT_DOOR: 'cloudfront',
    ORIGIN_SECRET: SECRET,
    LIMIT_ADDRESS_PER_SECOND: '1',
    LIMIT_ADDRESS_BURST: '2',
  };
  gateway = await startGateway({ vendorUrl: 'http://127.0.0.1:9', environment });
});
afterAll(() => gateway.stop());

const ask = (path: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.apiKey}`, ...headers } });
const through = (address: string) => ({ 'x-origin-secret': SECRET, 'x-client-ip': address });

test('AUTH-9 the gateway rejects requests that bypass CloudFront, and logs no secret', async () => {
  const guesses: readonly Readonly<Record<string, string>>[] = [{}, { 'x-origin-secret': 'a-guess-of-the-client' }];
  for (const headers of guesses) {
    for (const path of ['/health', '/v1/models', '/nowhere']) {
      const answer = await ask(path, headers);
      expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'direct_access_refused' } }]);
    }
  }
  expect((await ask('/health', through('203.0.113.2'))).status).toBe(200);
  expect(gateway.output()).toContain('direct_access_refused');
  expect(gateway.output()).not.toMatch(/the-origin-secret|a-guess-of/);
});

test('LIM-7 the gateway limits the client IP that CloudFront sends', async () => {
  const statuses = (toAddress: (at: number) => string): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: 30 }, async (_, at) => (await ask('/api/account', through(toAddress(at)))).status),
    );
  expect(new Set(await statuses((at) => `203.0.113.${100 + at}`))).toEqual(new Set([200]));
  expect(await statuses(() => '203.0.113.99')).toContain(429);
});
