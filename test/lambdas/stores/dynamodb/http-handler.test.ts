import { once } from 'node:events';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import tls from 'node:tls';
import { Worker } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createHttpHandler } from '../../../../lambdas/stores/dynamodb/http-handler.ts';
import { certificateFor } from '../../../support/certificate.ts';
import { startRecordingTable } from '../../../support/recording-table.ts';

let table: Awaited<ReturnType<typeof startRecordingTable>>;
beforeAll(async () => {
  table = await startRecordingTable();
});
afterAll(() => table.stop());

const limitless = { connectionTimeout: 0, requestTimeout: 0 };

const requestTo = (port: number, protocol = 'http:') => ({
  protocol,
  hostname: '127.0.0.1',
  port,
  method: 'POST',
  path: '/some/path',
  headers: { host: 'table.test', 'content-length': '5', 'x-a': 'b' },
  body: '"\u00fc"\n',
});

test('a request has the given headers, and the response its whole body', async () => {
  const handler = createHttpHandler(limitless);
  const body = 'x'.repeat(300_000);
  table.setReply({ status: 418, headers: { 'x-amz-crc32': `${crc32(body)}` }, body });
  const { response } = await handler.handle(requestTo(table.port));
  expect(response).toMatchObject({ statusCode: 418, headers: { 'content-length': '300000' } });
  expect(Buffer.from(response.body).toString()).toBe(body);
  expect(table.takeRequests()).toEqual([
    {
      method: 'POST',
      path: '/some/path',
      headers: { host: 'table.test', 'content-length': '5', 'x-a': 'b', connection: 'keep-alive' },
      body: '"\u00fc"\n',
    },
  ]);
  handler.destroy();
});

test('BILL-14 a limit of the time until the connection leaves a slow response alone', async () => {
  const handler = createHttpHandler({ connectionTimeout: 20, requestTimeout: 150 });
  table.setReply({ status: 200, body: '{}', stall: 'before' });
  await expect(handler.handle(requestTo(table.port))).rejects.toThrow(/150 ms/);
  handler.updateHttpClientConfig('requestTimeout', 40);
  handler.updateHttpClientConfig(Symbol.for('logger'), {});
  expect(handler.httpHandlerConfigs()).toEqual({ connectionTimeout: 20, requestTimeout: 40 });
  await expect(handler.handle(requestTo(table.port))).rejects.toMatchObject({
    name: 'TimeoutError',
    code: 'ETIMEDOUT',
  });
  table.takeRequests();
  handler.destroy();
});

test('a refused connection is an error with its code', async () => {
  const closed = await startRecordingTable();
  await closed.stop();
  const handler = createHttpHandler(limitless);
  await expect(handler.handle(requestTo(closed.port))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

const BLOCKED_SERVER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/** Other systems accept more connections than the backlog, or refuse them. */
test.skipIf(process.platform !== 'linux')('BILL-14 a connection that does not open ends at its limit', async () => {
  const worker = new Worker(BLOCKED_SERVER, { eval: true });
  const [port] = await once(worker, 'message');
  const waiting = Array.from({ length: 4 }, () => net.connect(port, '127.0.0.1').on('error', () => undefined));
  await Promise.race(waiting.map((socket) => once(socket, 'connect')));
  const handler = createHttpHandler({ connectionTimeout: 60, requestTimeout: 0 });
  await expect(handler.handle(requestTo(port))).rejects.toMatchObject({ name: 'TimeoutError', code: 'ETIMEDOUT' });
  for (const socket of waiting) socket.destroy();
  await worker.terminate();
});

const authorities = tls.getCACertificates('default');
afterEach(() => tls.setDefaultCACertificates(authorities));

test('https needs a trusted certificate for the name', async () => {
  const { key, cert } = certificateFor('localhost', ['20', '49']);
  let served = 0;
  const server = https.createServer({ key: key.export({ type: 'pkcs8', format: 'pem' }), cert }, (_, response) => {
    served += 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const request = requestTo((server.address() as AddressInfo).port, 'https:');
  const handle = (hostname: string) => createHttpHandler(limitless).handle({ ...request, hostname });
  await expect(handle('localhost')).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  tls.setDefaultCACertificates([cert]);
  await expect(handle('127.0.0.1')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  expect(served).toBe(0);
  expect(await handle('localhost')).toMatchObject({ response: { statusCode: 200 } });
  expect(served).toBe(1);
  server.close().closeAllConnections();
});
