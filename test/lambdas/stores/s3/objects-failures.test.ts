import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoSuchBucket, NoSuchKey, S3ServiceException } from '@aws-sdk/client-s3';
import { afterEach, expect, test } from 'vitest';
import { createS3Access, type S3Timeouts } from '../../../../lambdas/functions/wiring/clients.ts';
import { find, send } from '../../../../lambdas/stores/s3/objects.ts';
import { createOutbox } from '../../../../lambdas/stores/s3/outbox.ts';

const failing = (error: unknown) => () => Promise.reject(error);
const $metadata = {};
const fault = (name: string, $fault: 'client' | 'server') =>
  new S3ServiceException({ name, message: 'm', $fault, $metadata });

const missing = new NoSuchKey({ message: 'm', $metadata });

test('BILL-14 a missing object is a result of a read, and an error of any other call', async () => {
  expect(await find(failing(missing))).toBeUndefined();
  await expect(send(failing(missing))).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});

test.each([
  ['throttled', fault('SlowDown', 'server')],
  ['unavailable', fault('InternalError', 'server')],
  ['unavailable', fault('AccessDenied', 'client')],
  ['unavailable', new NoSuchBucket({ message: 'm', $metadata })],
  ['unavailable', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
  ['unavailable', Object.assign(new Error('too late'), { name: 'TimeoutError' })],
  ['unavailable', new SyntaxError('a reply cut short')],
  ['unavailable', 'a text'],
])('BILL-14 %s: %s is not a definite result', async (kind, error) => {
  for (const run of [find, send]) await expect(run(failing(error))).rejects.toMatchObject({ name: 'StoreError', kind });
});

test.each([fault('InvalidArgument', 'client'), fault('KeyTooLongError', 'client'), new TypeError('no function')])(
  'ERR-5 a programming error is not an outage: %s',
  async (error) => {
    for (const run of [find, send]) await expect(run(failing(error))).rejects.toBe(error);
  },
);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const outboxAgainst = async (answer: RequestListener, patience?: S3Timeouts) => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    // Without a Date header the client cannot conclude that the clock of a test is wrong and repeat the call.
    response.sendDate = false;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const options = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' };
  const access = createS3Access(options, patience);
  cleanups.push(async () => {
    (await access()).destroy();
    server.closeAllConnections();
    server.close();
  });
  return { outbox: createOutbox(access, 'media'), asked: () => asked };
};

const note = {
  record: { accountId: 'a', holdId: 'h.0', requestId: 'h', outcome: 'settled', amountPicos: 1n, at: 0 },
  holdAmountPicos: 1n,
} as const;

test('BILL-14 a server fault is retried once and then thrown, a rejection is not retried', async () => {
  const down = await outboxAgainst((_request, response) => response.writeHead(500).end());
  await expect(down.outbox.put(note)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  expect(down.asked()).toBe(2);
  const shut = await outboxAgainst((_request, response) =>
    response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
  );
  await expect(shut.outbox.read('h.0')).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  expect(shut.asked()).toBe(1);
});

test('BILL-14 an entry whose reply stops early is neither read nor missing', async () => {
  const { outbox } = await outboxAgainst((_request, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"record":');
    response.socket?.end();
  });
  await expect(outbox.read('h.0')).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});

const listing = (keys: readonly string[], isTruncated: boolean): string =>
  `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${keys.map((key) => `<Contents><Key>outbox/${key}</Key></Contents>`).join('')}</ListBucketResult>`;

test('BILL-14 a list ends early only at the last entry, although S3 returns short pages', async () => {
  const urls: URL[] = [];
  const pages = [listing(['a.0', 'b.0'], true), listing(['c.0'], false)];
  const { outbox } = await outboxAgainst((request, response) => {
    urls.push(new URL(request.url ?? '', 'http://127.0.0.1'));
    response.writeHead(200, { 'content-type': 'application/xml' }).end(pages[urls.length - 1]);
  });
  expect(await outbox.list('9.0')).toEqual(['a.0', 'b.0', 'c.0']);
  const asked = urls.map(({ searchParams }) => [searchParams.get('start-after'), searchParams.get('max-keys')]);
  expect(asked).toEqual([
    ['outbox/9.0', '1000'],
    ['outbox/b.0', '998'],
  ]);
});

test('BILL-14 a call fails after two attempts without a response', async () => {
  const patience = { maxAttempts: 2, requestTimeout: 50, socketTimeout: 60_000 };
  const { outbox } = await outboxAgainst(() => undefined, patience);
  const cause = { name: 'TimeoutError', $metadata: { attempts: 2 } };
  await expect(outbox.list()).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable', cause });
});
