import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { OutboxEntry } from '../../../../lambdas/core/ledger/ledger.ts';
import { createS3Access } from '../../../../lambdas/functions/wiring/clients.ts';
import { renderNote } from '../../../../lambdas/stores/s3/outbox.ts';
import { createOutboxHistory } from '../../../../lambdas/stores/s3/outbox-history.ts';

const entryOf = (holdId: string, at: number): OutboxEntry => ({
  record: { accountId: 'one', holdId, requestId: holdId, outcome: 'settled', amountPicos: 1n, at },
  holdAmountPicos: 2n,
});

const elementOf = (name: string, holdId: string, id: string, isLatest: boolean, second: number): string =>
  `<${name}><Key>outbox/${holdId}</Key><VersionId>${id}</VersionId><IsLatest>${isLatest}</IsLatest>` +
  `<LastModified>2026-11-26T12:00:0${second}.000Z</LastModified></${name}>`;
const version = (holdId: string, id: string, isLatest: boolean) => elementOf('Version', holdId, id, isLatest, 0);
const marker = (holdId: string, isLatest: boolean, second: number) =>
  elementOf('DeleteMarker', holdId, 'marker', isLatest, second);

const pageOf = (elements: readonly string[], next = '<IsTruncated>false</IsTruncated>'): string =>
  `<ListVersionsResult>${next}${elements.join('')}</ListVersionsResult>`;

/** Starts a bucket with these pages of versions. Every version holds the entry `texts` names, or one of its hold. */
const startBucket = async (pages: readonly string[], texts: Readonly<Record<string, string>> = {}) => {
  const asked: string[] = [];
  const left = [...pages];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://bucket');
    if (url.searchParams.has('versions')) {
      asked.push(`list ${url.searchParams.get('prefix')} ${url.searchParams.get('key-marker')}`);
      const page = left.shift();
      response.writeHead(page === undefined ? 500 : 200).end(page);
      return;
    }
    const holdId = url.pathname.split('/').at(-1) ?? '';
    const id = url.searchParams.get('versionId') ?? '';
    asked.push(`get ${holdId} ${id}`);
    const text = texts[id] ?? renderNote(entryOf(holdId, 1));
    if (text === '') response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    else response.writeHead(200, { 'content-length': String(text.length) }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const once = { maxAttempts: 1, requestTimeout: 5_000, socketTimeout: 5_000 };
  const client = createS3Access({ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' }, once);
  const since = (second: number) =>
    Array.fromAsync(createOutboxHistory(client, 'media').since(Date.UTC(2026, 10, 26, 12, 0, second)));
  return { asked, since };
};

test('OPS-16 the history has waiting entries, and those removed since the time', async () => {
  const bucket = await startBucket([
    pageOf([
      marker('early.0', true, 2),
      version('early.0', 'e1', false),
      marker('late.0', true, 5),
      version('late.0', 'l2', false),
      version('late.0', 'l1', false),
      version('waits.0', 'w1', true),
    ]),
  ]);
  expect(await bucket.since(5)).toEqual([
    { entry: entryOf('late.0', 1), isWaiting: false },
    { entry: entryOf('waits.0', 1), isWaiting: true },
  ]);
  expect(bucket.asked).toEqual(['list outbox/ null', 'get late.0 l2', 'get waits.0 w1']);
});

test('OPS-16 an entry that was put back after its removal waits', async () => {
  const bucket = await startBucket([
    pageOf([version('a.0', 'a2', true), marker('a.0', false, 5), version('a.0', 'a1', false)]),
  ]);
  expect(await bucket.since(9)).toEqual([{ entry: entryOf('a.0', 1), isWaiting: true }]);
  expect(bucket.asked.at(-1)).toBe('get a.0 a2');
});

test('OPS-16 a page that ends within an entry changes nothing', async () => {
  const next = '<IsTruncated>true</IsTruncated><NextKeyMarker>outbox/a.0</NextKeyMarker>';
  const bucket = await startBucket([pageOf([marker('a.0', true, 5)], next), pageOf([version('a.0', 'a1', false)])]);
  expect(await bucket.since(5)).toEqual([{ entry: entryOf('a.0', 1), isWaiting: false }]);
  expect(bucket.asked.slice(0, 2)).toEqual(['list outbox/ null', 'list outbox/ outbox/a.0']);
});

test('OPS-16 a version that expires during the reading is left out, and an unreadable one throws', async () => {
  const pages = [pageOf([version('a.0', 'a1', true)])];
  expect(await (await startBucket(pages, { a1: '' })).since(0)).toEqual([]);
  await expect((await startBucket(pages, { a1: '{}' })).since(0)).rejects.toThrow('outbox/a.0 cannot be read');
});

test('OPS-16 a bucket that does not respond throws a StoreError', async () => {
  await expect((await startBucket([])).since(0)).rejects.toThrow(StoreError);
});
