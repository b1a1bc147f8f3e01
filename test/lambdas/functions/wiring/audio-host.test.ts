import { afterEach, expect, test } from 'vitest';
import { streaming } from '../../../../lambdas/host/lambda-runtime.ts';
import { createUpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { CHARACTER, speech } from '../../../support/audio-samples.ts';
import { authorization, createAudioService } from '../../../support/audio-service.ts';
import { connectTo, request } from '../../host/raw-client.ts';
import { startHostWith } from '../../host/started-host.ts';
import { startVendor } from '../../providers/vendor-server.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

type Play = Parameters<typeof startVendor>[0];

/** The function behind a real socket, in front of a vendor behind a real socket. */
const started = async (play: Play) => {
  const vendor = await startVendor(play);
  stops.push(vendor.stop);
  const service = await createAudioService({ http: createUpstreamHttp(), baseUrl: vendor.url, models: [speech()] });
  const handler = streaming(service.handler);
  const host = await startHostWith((event, stream) => handler(event, stream, {}));
  stops.push(host.stop);
  const body = JSON.stringify({ model: 'voice-1', input: 'Hello', voice: 'alloy' });
  const head = [
    'POST /v1/audio/speech HTTP/1.1',
    'Host: localhost',
    `Authorization: ${authorization}`,
    `Content-Length: ${body.length}`,
  ];
  const client = await connectTo(host.port);
  client.send(request(head, body));
  return { service, host, client, vendor };
};

const END_OF_CHUNKS = '\r\n0\r\n\r\n';
const cost = 5n * CHARACTER;

test('AUD-3 sound goes on as it comes, in chunks, and ends after the charge', async () => {
  const second = Promise.withResolvers<void>();
  const { service, client } = await started(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write('first-');
    setTimeout(() => response.write('second-'), 20);
    await second.promise;
    response.end('third');
  });
  await expect.poll(() => client.text()).toContain('first-');
  expect((await service.account()).spentPicos).toBe(0n);
  second.resolve();
  await expect.poll(() => client.text()).toContain(END_OF_CHUNKS);
  expect(client.text()).toMatch(/content-type: audio\/mpeg/i);
  expect(client.text()).not.toMatch(/content-length|x-service-cost/i);
  expect((await service.account()).spentPicos).toBe(cost);
});

test('BILL-9 sound that is cut after its first byte breaks the connection and is released', async () => {
  const { service, client, host } = await started((_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write('first-');
    setTimeout(() => response.write('second-'), 20);
    setTimeout(() => response.destroy(), 60);
  });
  await expect.poll(() => client.isClosed()).toBe(true);
  expect(client.text()).toContain('HTTP/1.1 200');
  expect(client.text()).not.toContain('0\r\n\r\n');
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size, host.crashes]).toEqual([0n, 0, []]);
  expect(service.finished).toMatchObject([{ status: 200, errorCode: 'upstream_error' }]);
});

test('BILL-8 a client that leaves is charged, and the vendor is read to the end', async () => {
  const left = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const { service, client, host } = await started(async (_request, response) => {
    response.on('finish', () => ended.resolve());
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    response.write('first-');
    setTimeout(() => response.write('second-'), 20);
    await left.promise;
    for (let at = 0; at < 50; at += 1) response.write('x'.repeat(10_000));
    response.end('third');
  });
  await expect.poll(() => client.text()).toContain('first-');
  client.socket.resetAndDestroy();
  await expect.poll(() => client.isClosed()).toBe(true);
  left.resolve();
  await ended.promise;
  await expect.poll(async () => (await service.account()).spentPicos).toBe(cost);
  await expect.poll(() => service.finished).toMatchObject([{ status: 200, costPicos: cost }]);
  expect([(await service.account()).holds.size, host.crashes]).toEqual([0, []]);
});

test('BILL-8 a client that takes nothing holds nothing up: it is charged and dropped', async () => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const { service, client, host } = await started(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg' });
    for (let at = 0; at < 40; at += 1) await new Promise((resolve) => response.write(piece, resolve));
    response.end('last');
  });
  client.socket.pause();
  await expect.poll(async () => (await service.account()).spentPicos, { timeout: 15_000 }).toBe(cost);
  await expect.poll(() => service.finished.length).toBe(1);
  client.socket.resume();
  await expect.poll(() => client.isClosed(), { timeout: 10_000 }).toBe(true);
  expect(client.text()).not.toContain('last');
  expect(host.crashes).toEqual([]);
});
