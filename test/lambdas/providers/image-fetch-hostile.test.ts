import http from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createImageFetch, type ImageFetch } from '../../../lambdas/providers/image-fetch.ts';
import type { LookupAll } from '../../../lambdas/providers/public-address.ts';
import { answering, watchConnections } from './connection-watch.ts';
import { disguises, inner, inUrl, list, spellings } from './hostile-urls.ts';
import { refusalOf as refusalIn, unreachable } from './image-server.ts';

const png = Buffer.from('89504e470d0a1a0a', 'hex');
const attempts = watchConnections();

const refusalOf = (fetchImage: ImageFetch, url: string): Promise<string> =>
  refusalIn(fetchImage(url, { param: 'image', bytesMax: 1_000 }));

/** Creates the guard as in production, without the `reach` that allows local addresses in tests. */
const strict = (lookup: LookupAll): ImageFetch => createImageFetch({ lookup });

test.for([
  'http://127.0.0.1',
  'http://[::ffff:7f00:1]/a.png',
  'https://0x7f.1/a.png',
  'file:///etc/passwd',
  'http://[::1',
])('CHAT-6 %s is rejected without a connection', async (url) => {
  const names = answering([]);
  await refusalOf(strict(names.lookup), url);
  expect([names.asked, attempts]).toEqual([[], []]);
});

test.for([[['127.0.0.1']], [['169.254.169.254']], [['::ffff:10.0.0.1']], [['8.8.8.8', '10.0.0.1']], [[]]])(
  'CHAT-6 a name that resolves to %j is rejected without a connection',
  async ([addresses]) => {
    const names = answering(addresses!);
    for (const scheme of ['http', 'https']) {
      expect(await refusalOf(strict(names.lookup), `${scheme}://a.example/a.png`)).toBe(unreachable);
    }
    expect([names.asked, attempts]).toEqual([['a.example', 'a.example'], []]);
  },
);

test('CHAT-6 a URL longer than any server reads is rejected', async () => {
  const message = await refusalOf(strict(answering([]).lookup), `http://a.example/${'a'.repeat(8_192)}`);
  expect(message).toBe('image: the URL is longer than 8192 characters. Send a shorter one.');
});

/** 127.0.0.2 acts as the only public address; 127.0.0.1, on the same port, is internal and counts its connections. */
const outside = '127.0.0.2';
let answer: http.RequestListener = (_, response) => response.end(png);
const outer = http.createServer((request, response) => answer(request, response));
const innerServer = http.createServer((_, response) => response.end(png));
let innerConnects = 0;
innerServer.on('connection', () => {
  innerConnects += 1;
});
const listen = (server: http.Server, host: string, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, host, () => {
      const address = server.address();
      resolve(address !== null && typeof address === 'object' ? address.port : 0);
    });
  });
let at = 0;
beforeAll(async () => {
  at = await listen(outer, outside, 0);
  await listen(innerServer, '127.0.0.1', at);
});
beforeEach(() => {
  innerConnects = 0;
  answer = (_, response) => response.end(png);
});
afterAll(() => {
  for (const server of [outer, innerServer]) server.close().closeAllConnections();
});

const onePublic = (lookup: LookupAll): ImageFetch =>
  createImageFetch({
    lookup,
    reach: { address: (address) => address === outside, port: () => true },
  });

test('CHAT-6 the counting server counts connections', async () => {
  const open = createImageFetch({
    lookup: answering(['127.0.0.1']).lookup,
    reach: { address: () => true, port: () => true },
  });
  await open(`http://a.example:${at}/`, { param: 'image', bytesMax: 1_000 });
  expect([innerConnects, attempts]).toEqual([1, ['127.0.0.1']]);
});

test('CHAT-6 a name that changes its address after the check connects to the checked one', async () => {
  const names = answering([outside], ['127.0.0.1']);
  const fetchImage = onePublic(names.lookup);
  const url = `http://a.example:${at}/`;
  expect((await fetchImage(url, { param: 'image', bytesMax: 1_000 })).bytes).toEqual(png);
  expect(names.asked).toEqual(['a.example']);
  expect(await refusalOf(fetchImage, url)).toBe(unreachable);
  expect(names.asked).toEqual(['a.example', 'a.example']);
  expect([innerConnects, attempts]).toEqual([0, [outside]]);
});

test('CHAT-6 a name that changes its address between two redirects is checked again', async () => {
  const names = answering([outside], [outside], ['127.0.0.1']);
  answer = (request, response) => response.writeHead(302, { location: `${request.url}a` }).end();
  expect(await refusalOf(onePublic(names.lookup), `http://a.example:${at}/`)).toBe(unreachable);
  expect(names.asked).toHaveLength(3);
  expect([innerConnects, attempts]).toEqual([0, [outside, outside]]);
});

test('CHAT-6 a name with an internal and a public address gets no connection', async () => {
  const names = answering([outside, '127.0.0.1']);
  expect(await refusalOf(onePublic(names.lookup), `http://a.example:${at}/`)).toBe(unreachable);
  expect([innerConnects, attempts]).toEqual([0, []]);
});

test.for([
  ...inner.slice(0, 12).map(inUrl),
  ...spellings.slice(0, 8).map((host) => `http://${host}/`),
  ...disguises,
  ...list(String.raw`//127.0.0.1/ \\127.0.0.1\ ///127.0.0.1 /\127.0.0.1/ http://inner.example/ //inner.example/ http://[::1
    file:///etc/passwd data:image/png;base64,iVBORw0KGgo= gopher://127.0.0.1/ ftp://127.0.0.1/ javascript:1 http://
    http://u:p@a.example/ http://1.2.3.256/ ws://127.0.0.1/ blob:http://127.0.0.1/ //localhost/ https://127.0.0.1/`),
])('CHAT-6 a redirect to %j is rejected without a connection', async (location) => {
  const lookup: LookupAll = (name, _, callback) =>
    callback(null, [{ address: name === 'a.example' ? outside : '127.0.0.1', family: 4 }]);
  for (const to of [location, withPort(location)]) {
    answer = (_, response) => response.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end();
    attempts.length = 0;
    expect(await refusalOf(onePublic(lookup), `http://a.example:${at}/`)).toBe(unreachable);
    expect([innerConnects, attempts]).toEqual([0, [outside]]);
  }
});

/** Adds the port, so that an internal address would reach the counting server. */
const withPort = (location: string): string => {
  const url = URL.parse(location, 'http://a.example/');
  if (!url) return location;
  url.port = String(at);
  return url.href;
};
