import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { VideoFile } from '../../../lambdas/core/videos/video-wire.ts';
import { createUpstreamHttp } from '../../../lambdas/providers/upstream-http.ts';
import { openVideo } from '../../../lambdas/providers/video-download.ts';
import { startVendor, type VendorServer } from './vendor-server.ts';
import { errorOf, wholeOf } from './video-wire-world.ts';

const running: VendorServer[] = [];
afterEach(async () => {
  for (const vendor of running.splice(0)) await vendor.stop();
});

const vendorThat = async (play: Parameters<typeof startVendor>[0]): Promise<VendorServer> => {
  const vendor = await startVendor(play);
  running.push(vendor);
  return vendor;
};

const http = createUpstreamHttp();
const open = ({ url }: VendorServer, silenceMs?: number): Promise<VideoFile> =>
  openVideo((signal) => http({ url, method: 'GET', headers: {}, body: '', signal }), silenceMs);

test('VID-5 a file comes as it is, its length as announced, and its connection serves again', async () => {
  const vendor = await vendorThat((_, response) => response.end('x'.repeat(300_000)));
  for (let round = 0; round < 2; round += 1) {
    const file = await open(vendor);
    expect([file.length, (await wholeOf(file)).length]).toEqual([300_000, 300_000]);
    await wait(10);
  }
  expect(vendor.sockets).toHaveLength(1);
});

test('VID-5 a file of no announced length has none', async () => {
  const vendor = await vendorThat((_, response) => {
    response.write('a');
    response.end('b');
  });
  const file = await open(vendor);
  expect([file.length, await wholeOf(file)]).toEqual([undefined, 'ab']);
});

test('VID-5 a file that breaks off is an error', async () => {
  const vendor = await vendorThat((request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => request.socket.resetAndDestroy());
  });
  expect(await errorOf(open(vendor).then(wholeOf))).toMatchObject({ code: 'upstream_error' });
});

test('VID-5 a vendor that never answers, or stops in the middle, is given up, its connection closed', async () => {
  const vendor = await vendorThat((request, response) => {
    if (vendor.requests.length === 2) response.writeHead(200).write('some');
    else void request;
  });
  expect(await errorOf(open(vendor, 50))).toMatchObject({ code: 'upstream_timeout' });
  expect(await errorOf(open(vendor, 50).then(wholeOf))).toMatchObject({ code: 'upstream_timeout' });
  await expect.poll(() => vendor.sockets.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test('VID-5 the time of silence begins anew with every piece, and does not run while the reader is busy', async () => {
  const vendor = await vendorThat((_, response) => {
    let left = 6;
    const timer = setInterval(() => {
      if (left-- > 0) response.write('x');
      else response.end(() => clearInterval(timer));
    }, 40);
  });
  expect(await wholeOf(await open(vendor, 150))).toBe('xxxxxx');
  const slow = await open(vendor, 150);
  let size = 0;
  for await (const piece of slow.bytes) {
    if (size === 0) await wait(300);
    size += piece.length;
  }
  expect(size).toBe(6);
});

test('VID-5 a reader that leaves, or never comes, leaves no connection open', async () => {
  const vendor = await vendorThat((_, response) => {
    response.on('error', () => undefined);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  for await (const _ of (await open(vendor)).bytes) break;
  await expect.poll(() => vendor.sockets[0]?.destroyed).toBe(true);
  const unread = await open(vendor, 50);
  await expect.poll(() => vendor.sockets[1]?.destroyed).toBe(true);
  expect(await errorOf(wholeOf(unread))).toMatchObject({ code: 'upstream_timeout' });
});
