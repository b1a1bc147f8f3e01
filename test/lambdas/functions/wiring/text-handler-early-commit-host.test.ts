import { afterEach, expect, test } from 'vitest';
import { connectTo, request } from '../../host/raw-client.ts';
import { startHostWith } from '../../host/started-host.ts';
import { apiKey, createSilentService, type Silence } from './silent-service.ts';
import { type CustomerName, customers } from './silent-vendor.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Sends a request over a real socket and waits until the provider has been silent for 100 s by the gateway's clock. */
const begun = async (name: CustomerName & ('chat' | 'chat stream'), vendor: Silence = {}) => {
  const service = await createSilentService();
  service.play({ seconds: 131, body: customers[name].vendor, ...vendor });
  const host = await startHostWith((event, stream) => service.handlers.text(event, stream, {}));
  stops.push(host.stop);
  const body = JSON.stringify(customers[name].body);
  const head = [
    `POST ${customers[name].path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${apiKey}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const client = await connectTo(host.port);
  client.send(request(head, body));
  await expect.poll(() => service.calls.length).toBe(1);
  await service.pass(100);
  await expect.poll(() => client.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n./s);
  return { service, host, client };
};

const END_OF_CHUNKS = '\r\n0\r\n\r\n';

test('ERR-6 a plain response starts over a socket while the provider is silent', async () => {
  const { service, client, host } = await begun('chat');
  expect(client.text()).toMatch(/\r\n1\r\n \r\n$/);
  await service.pass(31);
  await expect.poll(() => client.text()).toContain(END_OF_CHUNKS);
  expect(client.text()).toContain('Good day.');
  expect(client.text()).toMatch(/content-type: application\/json/i);
  expect(client.text()).not.toMatch(/content-length|x-service-cost/i);
  expect((await service.money()).spentPicos).toBeGreaterThan(0n);
  expect([host.crashes, service.finished.length]).toEqual([[], 1]);
});

test('CHAT-11 a stream starts over a socket while the provider is silent', async () => {
  const { service, client, host } = await begun('chat stream');
  expect(client.text()).toContain(': keep-alive\n\n');
  await service.pass(31);
  await expect.poll(() => client.text()).toContain(END_OF_CHUNKS);
  expect(client.text()).toContain('data: [DONE]');
  expect([host.crashes, service.finished.length]).toEqual([[], 1]);
});

test.for(['chat', 'chat stream'] as const)(
  'BILL-8 a %s is charged and harms nothing if its client leaves after the early start',
  async (name) => {
    const { service, client, host } = await begun(name);
    client.socket.destroy();
    await expect.poll(() => client.isClosed()).toBe(true);
    await service.pass(31);
    await expect.poll(() => service.finished.length).toBe(1);
    const { spentPicos, expiries } = await service.money();
    expect([spentPicos > 0n, expiries, host.crashes]).toEqual([true, [], []]);
  },
);
