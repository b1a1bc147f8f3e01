import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeCheckKey, withCheckKey } from '../../../bin/check-deployed/check-key.ts';
import { readRows } from '../../../bin/commands/import/rows.ts';
import { CliError } from '../../../bin/exit.ts';
import { checkAccounts, isCheckAccount } from '../../../lambdas/core/accounts/check-account.ts';
import { hashApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import { balanceOf } from '../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { runHere } from '../../support/scripted-terminal.ts';
import { openCheckPlace } from './check-place.ts';

const id = checkAccounts.deployment;
let scene: Awaited<ReturnType<typeof openCheckPlace>>;
beforeAll(async () => {
  scene = await openCheckPlace();
});
afterAll(() => scene.gateway.stop());

const statusOf = async (apiKey: string): Promise<number> => {
  const { url } = scene.gateway;
  return (await fetch(`${url}/api/account`, { headers: { authorization: `Bearer ${apiKey}` } })).status;
};
const balance = async (): Promise<bigint> => {
  const account = await scene.gateway.ledger.readAccount(id);
  return account ? balanceOf(account) : -1n;
};

test('OPS-13 the API key of a check works during the check only, and its account has 0.05 USD', async () => {
  const keys: string[] = [];
  const work = async (apiKey: string): Promise<number> => {
    keys.push(apiKey);
    return statusOf(apiKey);
  };
  for (let run = 1; run <= 3; run += 1) {
    expect(await withCheckKey(scene.place, id, work)).toBe(200);
    expect(await balance()).toBe(parseUsd('0.05'));
  }
  expect(new Set(keys).size).toBe(3);
  for (const apiKey of keys) expect(await statusOf(apiKey)).toBe(401);
  const credits = await scene.place.stores.records.readCredits(id);
  expect(credits.map(({ ref, amountPicos }) => [ref.replace(/-.*/, ''), amountPicos])).toEqual([
    ['check:deployed', parseUsd('0.05')],
  ]);
});

test('OPS-13 a failed check revokes its API key', async () => {
  let made = '';
  const failing = withCheckKey(scene.place, id, async (apiKey) => {
    made = apiKey;
    throw new Error('the network is gone');
  });
  await expect(failing).rejects.toThrow('the network is gone');
  expect(await statusOf(made)).toBe(401);
});

test('OPS-13 the next check revokes the API key of a check that was killed', async () => {
  const left = await makeCheckKey(scene.place, id);
  expect(await statusOf(left)).toBe(200);
  await withCheckKey(scene.place, id, async () => expect(await statusOf(left)).toBe(401));
});

test('OPS-13 a lost reply of the write of the API key leaves no working key', async () => {
  const { keys } = scene.place.stores;
  const replaced: string[] = [];
  const replaceKey = vi.fn(async (order: Parameters<typeof keys.replaceKey>[0]) => {
    await keys.replaceKey(order);
    replaced.push(order.key.hash);
    throw new StoreError('unavailable', 'the reply was lost');
  });
  const stores = { ...scene.place.stores, keys: { ...keys, replaceKey } };
  const work = vi.fn(async () => undefined);
  await expect(withCheckKey({ ...scene.place, stores }, id, work)).rejects.toThrow(StoreError);
  expect(work).not.toHaveBeenCalled();
  expect((await keys.currentKey(id))?.hash).toBe(replaced[0]);
  expect((await keys.currentKey(id))?.isRevoked).toBe(true);
});

test('OPS-13 an API key that cannot be revoked is reported with what to do', async () => {
  const { keys } = scene.place.stores;
  const revokeKey = () => Promise.reject(new StoreError('unavailable', 'no reply'));
  const stores = { ...scene.place.stores, keys: { ...keys, revokeKey } };
  const made: string[] = [];
  const run = withCheckKey({ ...scene.place, stores }, id, async (apiKey) => made.push(apiKey));
  await expect(run).rejects.toThrow(
    `The API key of ${id} may still work: no reply. Run the check again, which revokes it.`,
  );
  expect((await keys.currentKey(id))?.hash).toBe(hashApiKey(scene.gateway.pepper, made[0]!));
  await withCheckKey(scene.place, id, async () => undefined);
  expect(await statusOf(made[0]!)).toBe(401);
});

test('OPS-13 a blocked check account is reported', async () => {
  const { accounts, keys } = scene.place.stores;
  const hash = (await keys.currentKey(id))?.hash;
  await accounts.setBlocked(id, true, hash);
  const failure = await withCheckKey(scene.place, id, async () => undefined).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CliError);
  expect(String(failure)).toContain('blocked. Unblock it with `accounts unblock`');
  await accounts.setBlocked(id, false, hash);
});

test('OPS-13 each check is in the log of operations', async () => {
  const before = (await scene.operations.list(id)).length;
  await withCheckKey(scene.place, id, async () => undefined);
  const log = await scene.operations.list(id);
  expect(log.length).toBe(before + 1);
  expect(log.at(-1)).toMatchObject({ command: 'check:deployed', reason: 'check of the deployment' });
});

test('OPS-13 no command and no import opens a customer account with an id of checks', async () => {
  expect(['gateway-check.x', 'gateway-checks', 'x.gateway-check.'].map(isCheckAccount)).toEqual([true, false, false]);
  const issue = ['keys', 'issue', 'gateway-check.x', '--create', '--reason', 'x', '--yes'];
  const { status, stderr } = await runHere(issue, { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' });
  expect([status, stderr]).toEqual([2, expect.stringContaining('<account>: ids that start with gateway-check. are')]);
  const { rows, refused } = readRows(Buffer.from('account,balance_usd\ngateway-check.x,1\n'));
  expect([rows, refused[0]?.reason]).toEqual([[], expect.stringContaining('gateway-check.')]);
});
