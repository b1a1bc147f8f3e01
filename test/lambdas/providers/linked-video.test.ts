import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { createLinkedVideo, type LinkedVideoDependencies } from '../../../lambdas/providers/linked-video.ts';
import { openVideo } from '../../../lambdas/providers/video-answers.ts';
import { serverThat } from './image-server.ts';
import { errorOf, wholeOf } from './video-wire-world.ts';

const plain = 'http://vendor.test/v1';
const secure = 'https://vendor.test/v1';

const open = (url: string, baseUrl = plain, deps: LinkedVideoDependencies = {}) =>
  openVideo((signal) => createLinkedVideo(deps)({ url, baseUrl, signal }));

test('VID-5 a linked file arrives unchanged, requested without any key', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = await serverThat((request, response) => {
    seen.push(request.headers);
    response.writeHead(200, { 'content-length': 10 });
    response.write('ftyp');
    setImmediate(() => response.end('movie!'));
  });
  const file = await open(`${server.url}/a.mp4?sig=a%2Bb`);
  expect([await wholeOf(file), file.length]).toEqual(['ftypmovie!', 10]);
  expect(server.requests).toEqual([{ method: 'GET', path: '/a.mp4?sig=a%2Bb', body: '' }]);
  expect(seen).toEqual([
    {
      host: new URL(server.url).host,
      accept: 'video/mp4, */*;q=0.1',
      'accept-encoding': 'identity',
      connection: 'close',
    },
  ]);
});

test.for([
  'https://127.0.0.1/a.mp4',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/a.mp4',
  'https://[::1]/a.mp4',
  'https://[::ffff:10.0.0.1]/a.mp4',
  'https://user:secret@vendor.test/a.mp4',
  'https://vendor.test:22/a.mp4',
  'http://vendor.test/a.mp4',
  'ftp://vendor.test/a.mp4',
  `https://vendor.test/${'x'.repeat(8_192)}`,
])('VID-5 a link to %s of a provider with https is not opened', async (url) => {
  let lookups = 0;
  const lookup: LinkedVideoDependencies['lookup'] = (_, __, answer) => {
    lookups += 1;
    answer(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  expect(await errorOf(open(url, secure, { lookup }))).toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining('does not return the file'),
  });
  expect(lookups).toBe(0);
});

test.for(['127.0.0.1', '169.254.169.254', 'fd00::1'])(
  'VID-5 a link to a name with the address %s is not opened',
  async (address) => {
    const names: string[] = [];
    const lookup: LinkedVideoDependencies['lookup'] = (name, _, answer) => {
      names.push(name);
      answer(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    };
    const error = await errorOf(open('https://files.vendor.test/a.mp4', secure, { lookup }));
    expect([error.code, names]).toEqual(['upstream_error', ['files.vendor.test']]);
    expect(error.message).not.toContain(address);
  },
);

test.for([302, 404, 500])('VID-5 a link that responds with %i is an error and is not followed', async (status) => {
  const server = await serverThat((_, response) => response.writeHead(status, { location: '/other' }).end('ftyp'));
  expect(await errorOf(open(server.url))).toMatchObject({ code: 'upstream_error' });
  expect(server.requests).toHaveLength(1);
});

test('VID-5 a linked file that is cut off is an error', async () => {
  const server = await serverThat((_, response) => {
    response.writeHead(200, { 'content-length': 10 });
    response.write('ftyp', () => response.destroy());
  });
  expect(await errorOf(open(server.url).then(wholeOf))).toMatchObject({ code: 'upstream_error' });
});

test('VID-5 a linked file that is no longer needed closes its connection', async () => {
  const closed = Promise.withResolvers<void>();
  const server = await serverThat((_, response) => {
    response.on('close', closed.resolve);
    response.write('ftyp');
  });
  for await (const _ of (await open(server.url)).bytes) break;
  await closed.promise;
});
