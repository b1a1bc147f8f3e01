import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, postJson, startTestPage, type TestPage } from './local-page.ts';

let served: TestPage;
beforeAll(async () => {
  served = await startTestPage();
});
afterAll(() => served.stop());

const fetchFile = (path: string, accepted: string) =>
  ask(served.port, {
    path,
    headers: { host: `127.0.0.1:${served.port}`, 'accept-encoding': accepted },
  });

test.each([
  ['/local/main.js', 'gzip, br', 'main.js.gz', 'gzip'],
  ['/local/main.js', 'br', 'main.js', undefined],
  ['/local/main.js', 'gzip;q=0', 'main.js', undefined],
  ['/local/main.css', 'gzip', 'main.css', undefined],
])('REF-7 %s with Accept-Encoding "%s" is the file %s', async (path, accepted, file, encoding) => {
  const { status, body, headers } = await fetchFile(path, accepted);
  expect([status, body, headers['content-encoding']]).toEqual([200, file, encoding]);
  expect(headers.vary).toBe('accept-encoding');
  expect(headers['content-length']).toBe(String(file.length));
  expect(headers['content-type']).toBe(`text/${path.endsWith('.js') ? 'javascript' : 'css'}; charset=utf-8`);
});

test('OPS-6 a body of more than 64 KiB or that is not JSON is rejected', async () => {
  expect((await postJson(served.port, '/local/say', { text: 'a'.repeat(70_000), language: 'en' })).status).toBe(413);
  expect((await postJson(served.port, '/local/say', 'a')).status).toBe(400);
});
