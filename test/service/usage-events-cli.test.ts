import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbedded, type Stores } from '../../bin/stores.ts';
import type { VideoParamsRecord } from '../../lambdas/core/videos/video-job.ts';
import { DATABASE_FILE } from '../../local/embedded-stores.ts';
import { Database } from '../../local/stores/sqlite/database.ts';
import { queueCharges } from '../../local/stores/sqlite/usage-events.ts';
import { orderOf } from '../contracts/video-subjects.ts';
import { runHere } from '../support/scripted-terminal.ts';

let folder: string;
let stores: Stores;
let db: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'usage-cli-'));
  stores = await openEmbedded(folder);
  db = await Database.open({ path: join(folder, 'database', DATABASE_FILE) });
  await queueCharges(db, Date.now());
});
afterEach(async () => {
  await db.close();
  await stores.close();
  rmSync(folder, { recursive: true, force: true });
});

const HOUR_MS = 3_600_000;
const ACCOUNT = 'acme';
const USD = 1_000_000_000_000n;

/** Runs the command line on the data folder. Fails the test if the command does. */
const cli = async (...args: readonly string[]): Promise<void> => {
  const { status, stderr } = await runHere(args, { DATA_DIR: folder });
  expect([args.slice(0, 2), status, status === 0 ? '' : stderr]).toEqual([args.slice(0, 2), 0, '']);
};

const queued = () =>
  db
    .sql('SELECT hold_id FROM usage_events ORDER BY seq')
    .all()
    .map(({ hold_id: id }) => id);

/** Opens the account with 10 USD and one expired hold of 2 USD. Returns the id of the request. */
const held = async (): Promise<string> => {
  const requestId = ulid();
  const expiresAtMs = Date.now() - HOUR_MS;
  const { ledger } = stores;
  await ledger.createAccount(ACCOUNT, Date.now());
  await ledger.credit({ accountId: ACCOUNT, ref: 'first', amountPicos: 10n * USD, reason: 'test', at: Date.now() });
  const times = { expiresAtMs, sweepAtMs: expiresAtMs, previousHoldId: undefined };
  const reply = await ledger.hold({ accountId: ACCOUNT, holdId: `${requestId}.0`, amountPicos: 2n * USD, ...times });
  expect(reply.kind).toBe('held');
  return requestId;
};

const why = (ref: string) => ['--ref', ref, '--reason', 'test', '--yes'] as const;

test('OPS-20 commands that change credit or block an account queue no usage event', async () => {
  await held();
  await cli('accounts', 'credit', ACCOUNT, '--amount', '5', ...why('payment-1'));
  await cli('accounts', 'refund', ACCOUNT, '--amount', '1', '--of', 'payment-1', ...why('refund-1'));
  await cli('accounts', 'debit', ACCOUNT, '--amount', '1', ...why('debit-1'));
  await cli('accounts', 'block', ACCOUNT, '--reason', 'test', '--yes');
  expect(queued()).toEqual([]);
});

test('OPS-20 holds release queues the usage event of the hold once', async () => {
  const requestId = await held();
  const release = () => cli('holds', 'release', ACCOUNT, `${requestId}.0`, ...why('ticket-1'));
  await release();
  await release();
  expect(queued()).toEqual([`${requestId}.0`]);
});

test('OPS-20 videos settle queues the usage event of the video once', async () => {
  const requestId = await held();
  const order: VideoParamsRecord = {
    ...{ ...orderOf(), id: `video_${requestId}`, accountId: ACCOUNT, requestId, holdId: `${requestId}.0` },
    ...{ holdAmountPicos: 2n * USD, createdAtMs: Date.now() - 3 * HOUR_MS },
  };
  expect((await stores.videoJobs.create(order, Date.now() + HOUR_MS)).kind).toBe('created');
  const settle = () => cli('videos', 'settle', order.id, ...why('ticket-2'));
  await settle();
  await settle();
  expect(queued()).toEqual([`${requestId}.0`]);
});
