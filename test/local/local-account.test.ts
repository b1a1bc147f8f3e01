import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { issueKey, rotateKey } from '../../lambdas/core/accounts/issue-key.ts';
import { keyIdOf, toMasked } from '../../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { joinDataFolder } from '../../local/data-folder.ts';
import { listAccounts, openLocalAccount, readLocalKeyState, readPepper } from '../../local/local-account.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { MemoryAccountStore } from '../support/memory/memory-account-store.ts';
import { MemoryKeyStore } from '../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../support/memory/memory-ledger-store.ts';

test('OPS-7 a pepper is created once, and a folder with a database but no pepper is rejected', () => {
  const folder = joinDataFolder(join(mkdtempSync(join(tmpdir(), 'account-')), 'data'));
  const pepper = readPepper(folder);
  expect(pepper).toMatch(/^[0-9a-f]{64}$/);
  folder.room('database');
  expect(readPepper(folder)).toBe(pepper);
  rmSync(join(folder.path, 'secrets/pepper'));
  const refusal = `${folder.path} has lost secrets/pepper, and no API key works without it. Restore it from a backup.`;
  expect(() => readPepper(folder)).toThrow(refusal);
  folder.close();
});

test('OPS-6 a start shows whether the stored API key is current, replaced or revoked', async () => {
  const folder = joinDataFolder(join(mkdtempSync(join(tmpdir(), 'account-')), 'data'));
  const clock = new ManualClock();
  const ledgerStore = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledgerStore);
  const accounts = new MemoryAccountStore(ledgerStore, keys);
  const peppers = { pepper: 'a pepper for tests', olderPeppers: [] };
  const deps = { accounts, keys, ledgerStore, clock, ...peppers };
  const changing = {
    ...deps,
    random: () => 0,
    newKeyBytes: () => crypto.getRandomValues(new Uint8Array(32)),
  };
  const start = () => openLocalAccount({ deps, folder, apiKey: undefined, balanceUsd: '3' });
  const current = async () => (await keys.currentKey('local'))!;
  expect(await start()).toMatchObject({ keyState: { kind: 'current' }, balanceUsd: '3', heldUsd: '0' });
  const hold = { accountId: 'local', holdId: 'crashed.1', amountPicos: parseUsd('0.4'), previousHoldId: undefined };
  await ledgerStore.hold({ ...hold, expiresAtMs: clock.now() + 1, sweepAtMs: clock.now() });
  expect(await start()).toMatchObject({ balanceUsd: '3', heldUsd: '0.4' });
  await keys.revokeKey('local', (await current()).hash);
  expect((await start()).keyState).toEqual({ kind: 'revoked' });
  await issueKey(changing, 'local', await current());
  const issued = await current();
  expect((await start()).keyState).toEqual({ kind: 'replaced', masked: toMasked(issued.label) });
  const { label } = await rotateKey(changing, { accountId: 'local', keyId: keyIdOf(issued.hash) });
  expect((await start()).keyState).toEqual({ kind: 'replaced', masked: toMasked(label) });
  folder.close();
});

test('OPS-6 the state of the local key shows changes after the start', async () => {
  const folder = joinDataFolder(join(mkdtempSync(join(tmpdir(), 'account-')), 'data'));
  const ledgerStore = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledgerStore);
  const accounts = new MemoryAccountStore(ledgerStore, keys);
  const deps = {
    accounts,
    keys,
    ledgerStore,
    clock: new ManualClock(),
    pepper: 'a pepper for tests',
    olderPeppers: [],
  };
  const { apiKey } = await openLocalAccount({ deps, folder, apiKey: undefined, balanceUsd: '3' });
  expect(await readLocalKeyState(deps, apiKey)).toEqual({ kind: 'current' });
  await keys.revokeKey('local', (await keys.currentKey('local'))!.hash);
  expect(await readLocalKeyState(deps, apiKey)).toEqual({ kind: 'revoked' });
  folder.close();
});

test('OPS-6 the list of accounts starts with `local` and has up to 200 others, sorted by id', async () => {
  const ledgerStore = new MemoryLedgerStore();
  const others = Array.from({ length: 201 }, (_, index) => `a${String(index).padStart(3, '0')}`);
  for (const id of [...others, 'local']) await ledgerStore.createAccount(id, 0);
  const ids = (await listAccounts({ ledgerRecords: ledgerStore, ledgerStore })).map(({ id }) => id);
  expect(ids).toEqual(['local', ...others.slice(0, 200)]);
});
