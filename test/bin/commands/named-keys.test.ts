import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../../bin/stores.ts';
import { PICOS_PER_USD } from '../../../lambdas/core/money/usd.ts';
import { runHere } from '../../support/scripted-terminal.ts';

const because = ['--reason', 'ticket 7'];
const UNKNOWN = '0123456789abcdef';

/** Opens the command line on a data folder with the account `one`, whose first key exists. */
const openCli = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'named-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await (await openEmbedded(folder)).close();
  mkdirSync(join(folder, 'secrets'), { recursive: true });
  writeFileSync(join(folder, 'secrets', 'pepper'), 'p'.repeat(64));
  const cli = (args: readonly string[], answer?: boolean) => runHere(args, { DATA_DIR: folder }, answer);
  const json = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await cli([...args, '--json']);
    return { status, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) };
  };
  await cli(['keys', 'issue', 'one', '--create', ...because, '--yes']);
  return {
    folder,
    cli,
    json,
    write: (...args: readonly string[]) => json('keys', ...args, ...because, '--yes'),
    dry: (...args: readonly string[]) => json('keys', ...args, ...because, '--dry-run'),
    list: async () => (await json('keys', 'list', 'one')).value.data,
    /** Operations after the creation of the account. */
    operations: async () => (await json('accounts', 'show', 'one')).value.operations.slice(1),
  };
};

test('OPS-5 only executed changes of keys are operations, with the key id as ref', async () => {
  const { cli, write, operations } = await openCli();
  const { value } = await write('create', 'one', '--name', 'A');
  expect(await write('create', 'one', '--name', 'B', '--models', 'gpt-0')).toMatchObject({ status: 2 });
  expect(await write('create', 'one', '--name', 'B', '--rights', 'manage', '--limit-usd', '1')).toMatchObject({
    status: 3,
  });
  expect(await write('edit', 'one', value.id, '--requests-per-second', '11')).toMatchObject({ status: 2 });
  expect(await cli(['keys', 'edit', 'one', value.id, '--name', 'C', ...because], false)).toMatchObject({
    status: 1,
    asked: [expect.stringContaining(value.id)],
  });
  expect(await write('edit', 'one', value.id, '--limit-usd', '2')).toMatchObject({ status: 0 });
  expect(await write('revoke', 'one', '--key', value.id)).toMatchObject({ status: 0, value: { revoked: true } });
  expect(await operations()).toMatchObject(
    ['keys create', 'keys edit', 'keys revoke'].map((command) => ({ command, ref: value.id, reason: 'ticket 7' })),
  );
});

test('OPS-5 a change that the operator confirms is asked once and made', async () => {
  const { cli, list, operations } = await openCli();
  const run = await cli(['keys', 'create', 'one', '--name', 'A', ...because], true);
  expect([run.status, run.asked.length]).toEqual([0, 1]);
  expect(await list()).toMatchObject([{ first: true }, { name: 'A' }]);
  expect(await operations()).toHaveLength(1);
});

test('OPS-5 a dry run checks a change of keys as the change does', async () => {
  const { dry } = await openCli();
  const create = (...more: readonly string[]) => dry('create', 'one', '--name', 'A', ...more);
  expect((await create('--models', 'gpt-0')).status).toBe(2);
  expect((await create('--rights', 'manage', '--limit-usd', '1')).status).toBe(3);
  expect((await dry('edit', 'one', UNKNOWN, '--name', 'B')).status).toBe(3);
  expect(await dry('revoke', 'one', '--key', UNKNOWN)).toMatchObject({
    status: 3,
    stderr: expect.stringContaining(`one: has no API key with the id ${UNKNOWN}. List them with \`keys list\`.`),
  });
});

test('OPS-5, KEY-9 a cap below its use is refused by a rule, also in a dry run', async () => {
  const { folder, write, dry, operations } = await openCli();
  const { value } = await write('create', 'one', '--name', 'A', '--limit-usd', '2');
  const { ledger, close } = await openEmbedded(folder);
  const picos = PICOS_PER_USD;
  await ledger.credit({ accountId: 'one', ref: 'r', amountPicos: 9n * picos, reason: 'test', at: 0 });
  const period = (await ledger.readAccount('one'))?.caps.get(value.id)?.period ?? '';
  const times = { expiresAtMs: 9e12, sweepAtMs: 9e12, previousHoldId: undefined };
  const cap = { keyId: value.id, period };
  await ledger.hold({ accountId: 'one', holdId: 'h.0', amountPicos: picos, cap, ...times });
  await close();
  const refusal = { status: 3, stderr: expect.stringContaining('--limit-usd: 0.5 USD is below the 1 USD') };
  for (const edit of [dry, write])
    expect(await edit('edit', 'one', value.id, '--limit-usd', '0.5')).toMatchObject(refusal);
  expect(await operations()).toHaveLength(1);
});

test('OPS-5 a dry run prints the key after the change, and changes nothing', async () => {
  const { write, dry, list, operations } = await openCli();
  const { value } = await write('create', 'one', '--name', 'A', '--limit-usd', '1');
  const before = await list();
  const created = await dry('create', 'one', '--name', 'B', '--limit-usd', '3');
  expect(created.value).toMatchObject({ account: 'one', id: null, masked: null, name: 'B', limit_usd: '3' });
  expect(created.value).not.toHaveProperty('key');
  expect(created.stderr).toContain('dry run: nothing was changed');
  const edited = await dry('edit', 'one', value.id, '--limit-usd', '2', '--limit-period', 'day');
  expect(edited.value).toMatchObject({ id: value.id, limit_usd: '2', limit_period: 'day', version: 2 });
  const revoked = await dry('revoke', 'one', '--key', value.id);
  expect(revoked.value).toEqual({ account: 'one', id: value.id, masked: value.masked, revoked: true });
  expect((await dry('revoke', 'one')).value).toMatchObject({ id: before[0].id, revoked: true });
  expect([await list(), await operations()]).toEqual([before, [expect.objectContaining({ command: 'keys create' })]]);
});

test('OPS-5 the list as text shows what each key holds and its restrictions', async () => {
  const { cli, write } = await openCli();
  await write('create', 'one', '--name', 'A', '--models', 'gpt-5.4', '--requests-per-second', '2', '--limit-usd', '1');
  const { stdout } = await cli(['keys', 'list', 'one']);
  expect(stdout).toMatch(/ held_usd +models +requests_per_second +rights\n/);
  expect(stdout).toMatch(/ A .* 0 +\["gpt-5\.4"\] +2 +\[\]\n/);
});

test('OPS-5 an account shows the number of its named keys', async () => {
  const { cli, json, write } = await openCli();
  expect((await cli(['accounts', 'show', 'one'])).stdout).toMatch(/^named_keys +0$/m);
  await write('create', 'one', '--name', 'A');
  expect((await cli(['accounts', 'show', 'one'])).stdout).toMatch(/^named_keys +1, see `keys list`$/m);
  expect((await json('accounts', 'show', 'one')).value).toMatchObject({ named_keys: 1, key: { revoked: false } });
});
