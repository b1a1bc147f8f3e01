import type { IncomingHttpHeaders } from 'node:http';
import { expect, test, vi } from 'vitest';
import { createImageFetch } from '../../../lambdas/providers/image-fetch.ts';
import { get, localFetch, png, refusalOf, serverThat, unreachable } from './image-server.ts';
import { closedPort } from './vendor-server.ts';

test.for([
  ['image/png', png],
  ['image/jpeg', Buffer.from('ffd8ffe000104a464946', 'hex')],
  ['image/webp', Buffer.from('524946462400000057454250565038', 'hex')],
] as const)('CHAT-6 %s arrives unchanged, whatever type the server declares', async ([mediaType, bytes]) => {
  const server = await serverThat((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(bytes));
  expect(await get(`${server.named}/a.gif?b=c#d`)).toEqual({ mediaType, bytes });
  expect(server.requests).toEqual([{ method: 'GET', path: '/a.gif?b=c', body: '' }]);
});

test('CHAT-6 a host that is an allowed address is fetched without a name lookup', async () => {
  const server = await serverThat((_, response) => response.end(png));
  expect((await get(server.url)).mediaType).toBe('image/png');
});

test('CHAT-6 the request identifies the gateway and the content, not the client', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = await serverThat((request, response) => {
    seen.push(request.headers);
    if (request.url === '/') response.writeHead(302, { location: '/2', 'set-cookie': 'a=b' }).end();
    else response.end(png);
  });
  await get(server.named);
  const expected = {
    host: new URL(server.named).host,
    'user-agent': 'model-gateway-image-fetch/1',
    accept: 'image/png, image/jpeg, image/webp, image/*;q=0.1',
    'accept-encoding': 'identity',
    connection: 'close',
  };
  expect(seen).toEqual([expected, expected]);
});

test('CHAT-6 every fetch has a connection of its own', async () => {
  const server = await serverThat((_, response) => response.end(png));
  const fetchImage = localFetch();
  for (let round = 0; round < 2; round += 1) await fetchImage(server.named, { param: 'image', bytesMax: 10_000 });
  expect(server.sockets).toHaveLength(2);
});

test.for([301, 302, 303, 307, 308])('CHAT-6 a %i is followed, at most three times', async (status) => {
  const server = await serverThat((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end(png);
    else response.writeHead(status, { location: `/${left - 1}` }).end('go on');
  });
  expect((await get(`${server.named}/3`)).bytes).toEqual(png);
  expect(await refusalOf(get(`${server.named}/4`))).toBe(
    'image: this URL redirects more than 3 times. Use the final URL.',
  );
  expect(server.requests).toHaveLength(8);
});

test('CHAT-6 a redirect loop ends with an error', async () => {
  const server = await serverThat((_, response) => response.writeHead(302, { location: '' }).end());
  expect(await refusalOf(get(server.named))).toContain('redirects more than 3 times');
  expect(server.requests).toHaveLength(4);
});

test('CHAT-6 the endless body of a redirect or an error is not read, its connection closed', async () => {
  const server = await serverThat((request, response) => {
    if (request.url === '/') response.writeHead(302, { location: '/2' }).write('x');
    else if (request.url === '/2') response.end(png);
    else response.writeHead(404).write('x');
  });
  expect((await get(server.named)).bytes).toEqual(png);
  expect(await refusalOf(get(`${server.named}/3`))).toContain('404');
  expect(server.sockets).toHaveLength(3);
  await vi.waitFor(() => expect(server.sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, true]), {
    timeout: 30_000,
  });
});

test.for([204, 206, 304, 403, 500])('CHAT-6 a status of %i is rejected', async (status) => {
  const server = await serverThat((_, response) => response.writeHead(status).end(png));
  expect(await refusalOf(get(server.named))).toBe(
    `image: the server of this URL returned ${status}. Use a public URL.`,
  );
});

test.for([undefined, 'http://', '//', 'http://[::1', 'http://u:p@images.example/'])(
  'CHAT-6 a redirect to %j is rejected',
  async (location) => {
    const server = await serverThat((_, response) => response.writeHead(301, location ? { location } : {}).end());
    expect(await refusalOf(get(server.named))).toBe(unreachable);
    expect(server.requests).toHaveLength(1);
  },
);

test.for(['gzip', 'identity, gzip', ' GZIP'])('CHAT-6 content-encoding %s is rejected', async (encoding) => {
  const server = await serverThat((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(png));
  expect(await refusalOf(get(server.named))).toContain('sends the image compressed');
});

test('CHAT-6 content-encoding identity is accepted', async () => {
  const server = await serverThat((_, response) =>
    response.writeHead(200, { 'content-encoding': 'Identity' }).end(png),
  );
  expect((await get(server.named)).bytes).toEqual(png);
});

test.for([
  ['nothing', ''],
  ['a page', '<!doctype html><p>no image</p>'],
  ['a GIF', 'GIF89a'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['the beginning of a PNG', '\x89PNG'],
])('CHAT-6 %s is not an image, whatever type the server declares', async ([, body]) => {
  const server = await serverThat((_, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end(body, 'latin1'),
  );
  expect(await refusalOf(get(server.named))).toBe('image: must be a PNG, JPEG or WebP image.');
});

test('CHAT-6 a closed port, an unknown name and a rejected address have the same message', async () => {
  const port = await closedPort();
  const nobody = createImageFetch({
    lookup: (_, __, callback) => callback(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []),
  });
  const options = { param: 'image', bytesMax: 1_000 };
  expect(await refusalOf(get(`http://images.example:${port}`))).toBe(unreachable);
  expect(await refusalOf(nobody('http://images.example', options))).toBe(unreachable);
  expect(await refusalOf(nobody('http://10.0.0.1', options))).toBe(unreachable);
});
