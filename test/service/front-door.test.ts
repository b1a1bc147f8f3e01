import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newFolder, startGateway, type TestGateway } from '../support/gateway.ts';

const SECRET = 'the-origin-secret-of-this-test';
const vendorUrl = 'http://127.0.0.1:9';
let folder: string;
let gateway: TestGateway;
let firstKey: string;

/** Its pepper is changed between two starts, and the second one stands behind an edge. */
beforeAll(async () => {
  folder = newFolder();
  const before = await startGateway({ vendorUrl, folder });
  firstKey = before.apiKey;
  await before.stop();
  const path = join(folder, 'secrets', 'pepper');
  writeFileSync(path, `a newer pepper of this test\n${readFileSync(path, 'utf8')}`);
  const limits = { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '2' };
  const environment = { FRONT_DOOR: 'cloudfront', ORIGIN_SECRET: SECRET, LOG_FORMAT: 'json', ...limits };
  gateway = await startGateway({ vendorUrl, folder, environment });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (path: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${firstKey}`, ...headers } });
const through = (address: string) => ({ 'x-origin-secret': SECRET, 'cloudfront-viewer-address': address });

test('AUTH-5 a key from before the pepper was changed is still the one of its account', async () => {
  expect(gateway.apiKey).toBe(firstKey);
  const answer = await ask('/api/account', through('203.0.113.1:4711'));
  expect([answer.status, await answer.json()]).toMatchObject([200, { id: 'local' }]);
});

test('AUTH-9 the program takes no request that did not come through the edge, and logs no secret', async () => {
  const guesses: readonly Readonly<Record<string, string>>[] = [{}, { 'x-origin-secret': 'a-guess-of-the-client' }];
  for (const headers of guesses) {
    for (const path of ['/health', '/v1/models', '/nowhere']) {
      const answer = await ask(path, headers);
      expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'direct_access_refused' } }]);
    }
  }
  expect((await ask('/health', through('203.0.113.2:1'))).status).toBe(200);
  expect(gateway.output()).toContain('direct_access_refused');
  expect(gateway.output()).not.toMatch(/the-origin-secret|a-guess-of/);
});

test('LIM-7 the program counts the address that the edge tells', async () => {
  const statuses = (toAddress: (at: number) => string): Promise<readonly number[]> =>
    Promise.all(
      Array.from({ length: 30 }, async (_, at) => (await ask('/api/account', through(toAddress(at)))).status),
    );
  expect(new Set(await statuses((at) => `203.0.113.${100 + at}:4711`))).toEqual(new Set([200]));
  // The port is another one with every connection.
  expect(await statuses((at) => `203.0.113.99:${4000 + at}`)).toContain(429);
});
