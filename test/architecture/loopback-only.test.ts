import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const server = createServer((_, response) => response.end('here'));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

const viaNet = (host: string, port: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => {
      socket.destroy();
      resolve('connected');
    });
    socket.once('error', reject);
  });

const viaHttp = (host: string, port: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    get({ host, port, agent: false }, (response) => resolve(response.resume().statusCode)).once('error', reject);
  });

const viaFetch = async (host: string, port: number): Promise<unknown> => {
  const response = await fetch(`http://${host}:${port}/`);
  return response.text();
};

/** Returns the message of an error, followed by the messages of its causes. */
const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${messageOf(error.cause)}` : '';

describe.each([
  ['net', viaNet],
  ['http', viaHttp],
  ['fetch', viaFetch],
] as const)('%s', (_, ask) => {
  test.each(['192.0.2.1', 'example.com', '[2001:db8::1]'])('a test cannot connect to %s', async (host) => {
    const error: unknown = await Promise.resolve()
      .then(() => ask(ask === viaFetch ? host : host.replaceAll(/[[\]]/g, ''), 80))
      .catch((thrown: unknown) => thrown);
    expect(messageOf(error)).toContain(
      `A test may connect to this machine only, not to ${host.replaceAll(/[[\]]/g, '')}.`,
    );
  });

  test.each(['127.0.0.1', 'localhost'])('a test can connect to %s', async (host) => {
    const { port } = server.address() as AddressInfo;
    await expect(ask(host, port)).resolves.toBeDefined();
  });
});
