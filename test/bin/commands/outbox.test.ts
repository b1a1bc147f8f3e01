import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../../bin/stores.ts';
import type { OutboxEntry } from '../../../lambdas/core/ledger/ledger.ts';
import { createDatabases } from '../../../lambdas/functions/wiring/clients.ts';
import { createLedgerStore } from '../../../lambdas/stores/dynamodb/ledger-store.ts';
import { renderNote } from '../../../lambdas/stores/s3/outbox.ts';
import { hasDynamodb, openTestTables } from '../../support/dynamodb.ts';
import { runHere } from '../../support/scripted-terminal.ts';

const HELD = 1_000_000n;
const since = ['outbox', 'replay', '--since'];

const entryOf = (requestId: string): OutboxEntry => ({
  record: {
    ...{ accountId: 'one', holdId: `${requestId}.0`, requestId, outcome: 'settled' },
    ...{ amountPicos: 400_000n, at: Date.UTC(2026, 10, 26) },
  },
  holdAmountPicos: HELD,
});

/** Starts a versioned bucket with removed entries of these requests. Records what is put. */
const startBucket = async (requestIds: readonly string[]) => {
  const puts: string[] = [];
  const keys = requestIds.map((id) => `<Key>outbox/${id}.0</Key>`);
  const times = '<LastModified>2026-11-26T12:00:00.000Z</LastModified>';
  const list = keys.map(
    (key) =>
      `<DeleteMarker>${key}<VersionId>2</VersionId><IsLatest>true</IsLatest>${times}</DeleteMarker>` +
      `<Version>${key}<VersionId>1</VersionId><IsLatest>false</IsLatest>${times}</Version>`,
  );
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket');
    const requestId = pathname.split('/').at(-1)?.split('.')[0] ?? '';
    if (request.method === 'PUT') {
      puts.push(requestId);
      request.resume().on('end', () => response.end());
    } else if (searchParams.has('versions')) response.end(`<ListVersionsResult>${list.join('')}</ListVersionsResult>`);
    else response.end(renderNote(entryOf(requestId)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { puts, endpoint: `http://127.0.0.1:${port}` };
};

/** A restored table with the open hold of one request, and the settings that lead to it. */
const openRestored = async (heldFor: string, bucketEndpoint: string) => {
  const { endpoint, names, clients } = await openTestTables();
  const ledger = createLedgerStore(createDatabases(clients), names.accounts);
  const { holdId } = entryOf(heldFor).record;
  await ledger.createAccount('one', 0);
  await ledger.credit({ accountId: 'one', ref: 'r', amountPicos: 9_000_000n, reason: 'test', at: 0 });
  const times = { expiresAtMs: 1, sweepAtMs: 1, previousHoldId: undefined };
  await ledger.hold({ accountId: 'one', holdId, amountPicos: HELD, ...times });
  return { DYNAMODB_ENDPOINT: endpoint, ACCOUNTS_TABLE: names.accounts, S3_ENDPOINT: bucketEndpoint };
};

test.runIf(hasDynamodb)('OPS-16 outbox replay puts back what has a hold, and lists what is lost', async () => {
  const bucket = await startBucket(['held', 'later']);
  const environment = await openRestored('held', bucket.endpoint);
  const dry = await runHere([...since, '2026-11-26T11:00:00Z', '--dry-run'], environment);
  expect([dry.status, bucket.puts]).toEqual([0, []]);
  expect(dry.stderr).toContain('1 replayed (0.0000004 USD), 0 recorded (0 USD), 1 lost (0.0000004 USD)');
  const run = await runHere([...since, '2026-11-26T11:00:00Z', '--yes', '--json'], environment);
  const row = { account: 'one', amount_usd: '0.0000004', at: '2026-11-26T00:00:00.000Z' };
  expect(JSON.parse(run.stdout).data).toEqual([
    { outcome: 'replayed', hold: 'held.0', ...row },
    { outcome: 'lost', hold: 'later.0', ...row },
  ]);
  expect(bucket.puts).toEqual(['held']);
});

test.runIf(hasDynamodb)('OPS-16 outbox replay leaves out what was removed before the time, with a margin', async () => {
  const bucket = await startBucket(['held']);
  const environment = await openRestored('held', bucket.endpoint);
  const rowsSince = async (time: string) =>
    JSON.parse((await runHere([...since, time, '--dry-run', '--json'], environment)).stdout).data.length;
  expect(await rowsSince('2026-11-26T12:05:00Z')).toBe(1);
  expect(await rowsSince('2026-11-26T12:05:01Z')).toBe(0);
});

test('OPS-16 outbox replay rejects an invalid time, and a data folder, which keeps no versions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-outbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await (await openEmbedded(folder)).close();
  const cli = (time: string) => runHere([...since, time, '--yes'], { DATA_DIR: folder });
  const refused = await cli('2026-11-26T12:00:00Z');
  expect([refused.status, refused.stderr]).toEqual([3, expect.stringContaining('keeps no removed outbox entries')]);
  for (const time of ['yesterday', '2026-11-26', '2026-13-26T12:00:00Z']) expect((await cli(time)).status).toBe(2);
});
