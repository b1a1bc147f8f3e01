import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import type { VideoParamsRecord } from '../../lambdas/core/videos/video-job.ts';
import { toHoldEntry } from '../../lambdas/stores/dynamodb/hold-entries.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { runHere } from '../support/scripted-terminal.ts';
import { type CliScene, openCliScene, openLocalBucket } from './cli-scene.ts';

let scene: CliScene;
beforeAll(async () => {
  scene = await openCliScene();
});
afterAll(() => scene?.stop());

const HOUR_MS = 3_600_000;
const HELD = 2n * PICOS_PER_USD;

/** Opens an account with 10 USD and a hold of 2 USD that expires after `expiresInMs`. */
const held = async (expiresInMs: number, requestId = ulid()) => {
  const accountId = `held-${requestId}`;
  const holdId = `${requestId}.0`;
  const { ledger } = scene.stores;
  await ledger.createAccount(accountId, Date.now());
  await ledger.credit({ accountId, ref: 'first', amountPicos: 10n * PICOS_PER_USD, reason: 'test', at: Date.now() });
  const expiresAtMs = Date.now() + expiresInMs;
  const order = {
    accountId,
    holdId,
    amountPicos: HELD,
    expiresAtMs,
    sweepAtMs: expiresAtMs,
    previousHoldId: undefined,
  };
  expect((await ledger.hold(order)).kind).toBe('held');
  const settled: ChargeRecord = {
    ...{ accountId, holdId, requestId, outcome: 'settled', amountPicos: PICOS_PER_USD, at: Date.now() },
    ...{ model: 'alpha-1', usage: { output: 1 }, prices: { output: PICOS_PER_USD } },
  };
  return { accountId, holdId, requestId, settled };
};

const release = (accountId: string, holdId: string, ref: string, ...more: readonly string[]) =>
  scene.json('holds', 'release', accountId, holdId, '--ref', ref, '--reason', 'stuck', '--yes', ...more);

test('OPS-5 an expired hold is released once with its balances; another reference is rejected', async () => {
  const { accountId, holdId } = await held(-HOUR_MS);
  const { value } = await scene.json('holds', 'list', '--expired', '--account', accountId);
  expect(value.data).toMatchObject([{ hold: holdId, amount_usd: '2', expired: true }]);
  const dry = await scene.json('holds', 'release', accountId, holdId, '--ref', 'r', '--reason', 'x', '--dry-run');
  expect(dry).toMatchObject({ status: 0, value: { outcome: 'released', available_after_usd: '8' } });
  const done = await release(accountId, holdId, 'ticket-1');
  expect(done).toMatchObject({
    status: 0,
    value: {
      outcome: 'released',
      charged_usd: '0',
      available_before_usd: '8',
      available_after_usd: '10',
      repeated: false,
    },
  });
  expect(await release(accountId, holdId, 'ticket-1')).toMatchObject({ status: 0, value: { repeated: true } });
  expect(await release(accountId, holdId, 'ticket-2')).toMatchObject({ status: 3, value: undefined });
  expect(await release(accountId, 'none.0', 'ticket-1')).toMatchObject({ status: 1, value: undefined });
  expect(await release('nobody', holdId, 'ticket-1')).toMatchObject({ status: 1, value: undefined });
  const shown = await scene.json('accounts', 'show', accountId);
  expect(shown.value.operations).toMatchObject([
    { command: `holds release ${holdId}`, ref: 'ticket-1', reason: 'stuck' },
  ]);
  expect((await scene.cli('audit', '--account', accountId)).status).toBe(0);
});

test('OPS-5 a hold that expired moments ago is not released, because clocks can differ', async () => {
  const { accountId, holdId } = await held(-1_000);
  expect(await release(accountId, holdId, 'ticket-1')).toMatchObject({ status: 3, value: undefined });
});

test('OPS-5 a hold whose request may still run is released only with --force', async () => {
  const { accountId, holdId } = await held(HOUR_MS);
  const refused = await release(accountId, holdId, 'ticket-1');
  expect(refused).toMatchObject({ status: 3, value: undefined });
  expect(refused.stderr).toContain('--force');
  const all = await scene.json('holds', 'list');
  expect(all.value.data).toContainEqual(expect.objectContaining({ account: accountId, hold: holdId, expired: false }));
  expect(await release(accountId, holdId, 'ticket-1', '--force')).toMatchObject({
    status: 0,
    value: { available_after_usd: '10' },
  });
});

test('OPS-5 BILL-13 an existing charge takes precedence over a release and is applied', async () => {
  const { accountId, holdId, settled } = await held(-HOUR_MS);
  await scene.stores.ledger.putRecord(settled);
  const done = await release(accountId, holdId, 'ticket-1');
  expect(done).toMatchObject({
    status: 0,
    value: {
      outcome: 'settled',
      charged_usd: '1',
      balance_before_usd: '10',
      balance_after_usd: '9',
      available_after_usd: '9',
    },
  });
  expect(done.stderr).toContain('The charge was applied');
  expect(await release(accountId, holdId, 'ticket-1')).toMatchObject({ status: 3 });
  expect((await scene.cli('audit', '--account', accountId)).status).toBe(0);
});

test('OPS-5 BILL-14 a settlement in the outbox takes precedence over a release', async () => {
  const { accountId, holdId, settled } = await held(-HOUR_MS);
  const bucket = openLocalBucket(scene.gateway.folder);
  try {
    await bucket.outbox.put({ record: settled, holdAmountPicos: HELD });
    expect(await release(accountId, holdId, 'ticket-1')).toMatchObject({
      status: 0,
      value: { outcome: 'settled', charged_usd: '1', available_after_usd: '9' },
    });
  } finally {
    await bucket.close();
  }
});

test('OPS-5 BILL-14 nothing is released while the outbox is unavailable, and the bucket is named', async () => {
  const { accountId, holdId } = await held(-HOUR_MS);
  const before = await scene.stores.ledger.readAccount(accountId);
  const args = ['holds', 'release', accountId, holdId, '--ref', 'r', '--reason', 'x', '--yes'];
  const down = await runHere(args, { ...scene.environment, S3_ENDPOINT: 'http://127.0.0.1:9' });
  expect(down).toMatchObject({ status: 1, stdout: '' });
  expect(down.stderr).toContain('bucket media at http://127.0.0.1:9 did not respond');
  expect(down.stderr).not.toMatch(/\n\s+at /);
  expect(await scene.stores.ledger.readAccount(accountId)).toEqual(before);
});

/** Opens an account with an expired hold, and adds the bytes of a newer release to the hold. */
const heldByNewerRelease = async () => {
  const of = await held(-HOUR_MS, renderRequestId({ atMs: Date.now() - 2 * HOUR_MS, random: 7 }));
  const { key, value } = toHoldEntry(of.holdId, { amountPicos: HELD, expiresAtMs: Date.now() - HOUR_MS }, 'packed');
  if (!(value instanceof Uint8Array)) throw new Error('the hold is not packed');
  await scene.stores.client.send(
    new UpdateItemCommand({
      TableName: localTableNames.accounts,
      Key: { pk: { S: `account#${of.accountId}` }, sk: { S: 'ACCOUNT' } },
      UpdateExpression: 'SET holds.#key = :value',
      ConditionExpression: 'attribute_exists(holds.#key)',
      ExpressionAttributeNames: { '#key': key },
      ExpressionAttributeValues: { ':value': { B: Buffer.concat([value, Buffer.from('cap')]) } },
    }),
  );
  return of;
};

test('OPS-5 OPS-11 a hold of a newer release is not released, also with --force or a charge', async () => {
  const { accountId, holdId, settled } = await heldByNewerRelease();
  const before = await scene.stores.ledger.readAccount(accountId);
  expect(before?.holds.get(holdId)).toMatchObject({ isNewer: true });
  const refused = { status: 3, value: undefined, stderr: expect.stringContaining('Deploy that release again.') };
  expect(await release(accountId, holdId, 'ticket-1')).toEqual(refused);
  expect(await release(accountId, holdId, 'ticket-1', '--force')).toEqual(refused);
  expect(await release(accountId, holdId, 'ticket-1', '--dry-run')).toEqual(refused);
  expect(await scene.stores.ledger.readRecord(accountId, holdId)).toBeUndefined();
  await scene.stores.ledger.putRecord(settled);
  expect(await release(accountId, holdId, 'ticket-1')).toEqual(refused);
  expect(await scene.stores.ledger.readAccount(accountId)).toEqual(before);
  expect((await scene.json('accounts', 'show', accountId)).value.operations).toEqual([]);
});

/** Creates a video of an account with a hold, `ageMs` ago. */
const video = async (ageMs: number) => {
  const of = await held(HOUR_MS);
  const order: VideoParamsRecord = {
    ...{ id: `video_${of.requestId}`, accountId: of.accountId, requestId: of.requestId, holdId: of.holdId },
    ...{
      holdAmountPicos: HELD,
      modelId: 'sora-2',
      providerId: 'openai',
      wire: 'openai_videos',
      upstreamModel: 'sora-2',
    },
    ...{ prompt: 'a cat', seconds: 4, width: 1_280, height: 720, createdAtMs: Date.now() - ageMs },
    terms: { unit: 'second', ratePicos: PICOS_PER_USD / 2n, unitsMax: 4 },
  };
  expect((await scene.stores.videoJobs.create(order, Date.now() + HOUR_MS)).kind).toBe('created');
  return { ...of, id: order.id };
};

const settle = (id: string, ...more: readonly string[]) =>
  scene.json('videos', 'settle', id, '--ref', 'ticket-9', '--reason', 'stuck', '--yes', ...more);

test('OPS-5 a video that may still complete is settled only with --force', async () => {
  const { id, accountId } = await video(60_000);
  expect(await settle(id)).toMatchObject({ status: 3, value: undefined });
  const running = await scene.json('videos', 'list', '--running', '--account', accountId);
  expect(running.value.data).toMatchObject([{ id, account: accountId, status: 'queued', held_usd: '2' }]);
  expect(await settle(id, '--force')).toMatchObject({
    status: 0,
    value: { status: 'failed', available_before_usd: '8', available_after_usd: '10', repeated: false },
  });
  expect((await scene.json('videos', 'list', '--running')).value.data).not.toContainEqual(
    expect.objectContaining({ id }),
  );
  expect((await scene.json('videos', 'list')).value.data).toContainEqual(
    expect.objectContaining({ id, status: 'failed' }),
  );
});

test('OPS-5 a stuck video fails and its hold is released; a repeat changes nothing', async () => {
  const { id, accountId } = await video(3 * HOUR_MS);
  const dry = await scene.json('videos', 'settle', id, '--ref', 'x', '--reason', 'x', '--dry-run');
  expect(dry).toMatchObject({ status: 0, value: { status: 'queued' } });
  expect(await settle(id)).toMatchObject({
    status: 0,
    value: { status: 'failed', error: 'upstream_timeout', balance_after_usd: '10', available_after_usd: '10' },
  });
  expect(await settle(id)).toMatchObject({ status: 0, value: { repeated: true, status: 'failed' } });
  expect((await scene.cli('audit', '--account', accountId)).status).toBe(0);
  expect(await settle('video_none')).toMatchObject({ status: 1, value: undefined });
});

test('OPS-5 VID-6 a charged stuck video is completed', async () => {
  const { id, settled } = await video(3 * HOUR_MS);
  await scene.stores.ledger.putRecord(settled);
  expect(await settle(id)).toMatchObject({ status: 0, value: { status: 'completed', balance_after_usd: '9' } });
});
