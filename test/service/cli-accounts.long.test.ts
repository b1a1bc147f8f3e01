import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { failed } from '../../bin/exit.ts';
import { runProgram } from '../../bin/program.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { runHere, scriptedTerminal } from '../support/scripted-terminal.ts';
import { type CliScene, openCliScene } from './cli-scene.ts';

let scene: CliScene;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cli-accounts-'));
  scene = await openCliScene();
});
afterAll(async () => {
  await scene?.stop();
  rmSync(folder, { recursive: true });
});

let count = 0;
const because = ['--reason', 'ticket 7', '--yes'];

/** Creates an account. Returns its id and API key. */
const issue = async (): Promise<readonly [id: string, apiKey: string]> => {
  count += 1;
  const id = `customer-${count}`;
  const { status, stdout } = await scene.cli('keys', 'issue', id, '--create', ...because);
  expect(status).toBe(0);
  return [id, stdout.trim()];
};

const credit = (id: string, amount: string, ref: string, ...more: readonly string[]) =>
  scene.json('accounts', 'credit', id, '--amount', amount, '--ref', ref, ...because, ...more);

test('OPS-5 a credit counts once per reference; another amount exits with 3', async () => {
  const [id, apiKey] = await issue();
  const first = await credit(id, '2.50', 'pay-1');
  expect(first).toMatchObject({
    status: 0,
    value: { balance_before_usd: '0', balance_after_usd: '2.5', repeated: false },
  });
  const again = await credit(id, '2.5', 'pay-1');
  expect(again).toMatchObject({
    status: 0,
    value: { balance_before_usd: '2.5', balance_after_usd: '2.5', repeated: true },
  });
  const other = await credit(id, '3', 'pay-1');
  expect(other).toMatchObject({ status: 3, value: undefined });
  expect(other.stderr).toContain('--ref pay-1: this ref is already used for a credit of 2.5 USD');
  expect(await credit('nobody', '1', 'pay-1')).toMatchObject({ status: 1, value: undefined });
  const { value } = await scene.json('accounts', 'show', id);
  expect(value).toMatchObject({
    balance_usd: '2.5',
    status: 'active',
    credits: [{ ref: 'pay-1', amount_usd: '2.5', reason: 'ticket 7' }],
    operations: [{ command: 'keys issue', reason: 'ticket 7', ref: null }],
    key: { revoked: false },
    uncollected: null,
  });
  expect(JSON.stringify(value)).not.toContain(apiKey);
  expect((await scene.cli('audit', '--account', id)).status).toBe(0);
});

const unread = {
  'its reader has left': () => Promise.resolve(false),
  'the disk is full': () => Promise.reject(failed('ENOSPC')),
};

test.each([
  ['its reader has left', []],
  ['its reader has left', ['--json']],
  ['the disk is full', []],
] as const)('OPS-5 a new key that cannot be written, since %s, is reported as lost, exit 1: %j', async (why, more) => {
  const [id, apiKey] = await issue();
  const { terminal, written } = scriptedTerminal(scene.environment);
  const deaf = { ...terminal, print: unread[why] };
  expect(await runProgram(['keys', 'rotate', id, ...because, ...more], deaf)).toBe(1);
  expect(written.stderr).toContain(`The new API key of ${id} was not printed`);
  expect(await scene.statusOf(apiKey)).toEqual([401, 'revoked_api_key']);
  const revoked = await runProgram(['keys', 'revoke', id, ...because, ...more], deaf);
  expect(revoked).toBe(why === 'the disk is full' ? 1 : 0);
});

test('OPS-5 a dry run prints the changes and makes none', async () => {
  const [id, apiKey] = await issue();
  const before = await scene.json('accounts', 'show', id);
  const dry = await scene.json('accounts', 'credit', id, '--amount', '4', '--ref', 'dry', '--reason', 'x', '--dry-run');
  expect(dry).toMatchObject({ status: 0, value: { balance_before_usd: '0', balance_after_usd: '4' } });
  expect(dry.stderr).toContain('dry run: nothing was changed');
  for (const command of ['accounts block', 'accounts unblock', 'keys rotate', 'keys revoke']) {
    expect((await scene.cli(...command.split(' '), id, '--reason', 'x', '--dry-run')).status).toBe(0);
  }
  expect((await scene.cli('keys', 'issue', 'dry-account', '--create', '--reason', 'x', '--dry-run')).status).toBe(0);
  expect((await scene.json('accounts', 'show', id)).value).toEqual(before.value);
  expect((await scene.cli('accounts', 'show', 'dry-account')).status).toBe(1);
  expect(await scene.statusOf(apiKey)).toEqual([200, undefined]);
});

test('OPS-5 an interactive command asks first, and "no" changes nothing', async () => {
  const [id] = await issue();
  const args = ['accounts', 'credit', id, '--amount', '1', '--ref', 'asked', '--reason', 'x'];
  const no = await runHere(args, scene.environment, false);
  expect(no).toMatchObject({ status: 1, stdout: '', asked: [`Credit 1 USD to ${id}? Its balance is 0 USD.`] });
  expect(no.stderr).toContain('Nothing was changed.');
  expect((await runHere(args, scene.environment, true)).status).toBe(0);
  expect((await scene.json('accounts', 'show', id)).value.balance_usd).toBe('1');
});

test('OPS-5 a blocked account is rejected from the next request on, until it is unblocked', async () => {
  const [id, apiKey] = await issue();
  expect(await scene.statusOf(apiKey)).toEqual([200, undefined]);
  const blocked = await scene.json('accounts', 'block', id, ...because);
  expect(blocked).toMatchObject({ status: 0, value: { status_before: 'active', status: 'blocked' } });
  expect(await scene.statusOf(apiKey)).toEqual([403, 'account_blocked']);
  for (const command of ['rotate', 'issue']) {
    expect(await scene.cli('keys', command, id, ...because)).toMatchObject({ status: 3, stdout: '' });
  }
  const { value } = await scene.json('accounts', 'list', '--status', 'blocked');
  expect(value.data.map((row: { id: string }) => row.id)).toEqual([id]);
  expect((await scene.cli('accounts', 'unblock', id, ...because)).status).toBe(0);
  expect(await scene.statusOf(apiKey)).toEqual([200, undefined]);
  expect((await scene.cli('accounts', 'block', 'nobody', ...because)).status).toBe(1);
  const shown = await scene.json('accounts', 'show', id);
  expect(shown.value.operations.map(({ command }: { command: string }) => command)).toEqual([
    'keys issue',
    'accounts block',
    'accounts unblock',
  ]);
});

test('OPS-5 KEY-2 a rotated API key is rejected immediately; a revoked one has no successor', async () => {
  const [id, first] = await issue();
  expect(await scene.cli('keys', 'issue', id, ...because)).toMatchObject({ status: 3, stdout: '' });
  const rotated = await scene.json('keys', 'rotate', id, ...because);
  const second = rotated.value.key;
  expect(second).toMatch(/^sk-service-\w{49}$/);
  expect(rotated.value.masked).toBe(`${second.slice(0, 15)}…${second.slice(-4)}`);
  expect(await scene.statusOf(first)).toEqual([401, 'revoked_api_key']);
  expect(await scene.statusOf(second)).toEqual([200, undefined]);
  const revoked = await scene.json('keys', 'revoke', id, ...because);
  expect(revoked).toMatchObject({ status: 0, value: { account: id, revoked: true } });
  expect(await scene.statusOf(second)).toEqual([401, 'revoked_api_key']);
  for (const command of ['rotate', 'revoke']) {
    expect(await scene.cli('keys', command, id, ...because)).toMatchObject({ status: 3, stdout: '' });
  }
  const issued = await scene.cli('keys', 'issue', id, ...because);
  expect(issued.stderr).not.toContain(issued.stdout.trim());
  expect(await scene.statusOf(issued.stdout.trim())).toEqual([200, undefined]);
  expect(await scene.statusOf(second)).toEqual([401, 'revoked_api_key']);
});

test('OPS-5 keys of unknown accounts: exit 3 without --create, exit 2 for an invalid id', async () => {
  expect((await scene.cli('keys', 'issue', 'absent', ...because)).status).toBe(3);
  expect((await scene.cli('keys', 'issue', 'no#id', '--create', ...because)).status).toBe(2);
  expect((await scene.cli('keys', 'rotate', 'absent', ...because)).status).toBe(1);
});

test('OPS-5 usage is listed and exported completely, to stdout and to a private new file', async () => {
  const [id, apiKey] = await issue();
  await credit(id, '5', 'pay');
  const mine = { ...scene.gateway, apiKey };
  for (const words of ['one', 'two [[status 500]]', 'three']) {
    await (await postChat(mine, { messages: saying(words), max_tokens: 20 })).text();
  }
  const { value } = await scene.json('usage', 'list', id, '--limit', '2');
  expect(value.data.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['charged', 'released']);
  const table = await scene.cli('usage', 'list', id);
  expect(table.stdout.split('\n')).toHaveLength(5);
  const csv = await scene.cli('usage', 'export', id);
  expect(csv.stdout.split('\r\n').filter(Boolean)).toHaveLength(4);
  expect(csv.stdout).toMatch(/^id,created_at,outcome,/);
  const json = await scene.cli('usage', 'export', id, '--json');
  expect(JSON.parse(json.stdout)).toHaveLength(3);
  expect((await scene.cli('usage', 'export', id, '--json', '--format', 'csv')).status).toBe(2);
  const path = join(folder, 'usage.csv');
  const toFile = await scene.cli('usage', 'export', id, '--out', path);
  expect(toFile).toMatchObject({ status: 0, stdout: '' });
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([csv.stdout, 0o600]);
  expect((await scene.cli('usage', 'export', id, '--out', path)).status).toBe(3);
  expect((await scene.cli('usage', 'export', 'nobody', '--out', `${path}2`)).status).toBe(1);
  expect(existsSync(`${path}2`)).toBe(false);
  expect((await scene.cli('usage', 'list', id, '--from', 'yesterday')).status).toBe(2);
  const empty = await scene.cli('usage', 'export', id, '--json', '--to', '2020-01-01');
  expect(JSON.parse(empty.stdout)).toEqual([]);
});

test('OPS-5 the list has all accounts', async () => {
  const { status, stdout } = await scene.cli('accounts', 'list');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^id +status +balance_usd +available_usd +held_usd +open_holds\n/);
  expect(stdout).toMatch(/^local +active +10 +10 +0 +0$/m);
});
