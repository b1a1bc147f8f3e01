import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type KeyFile, openKeyFile } from '../../../../bin/commands/import/key-file.ts';
import { planRow } from '../../../../bin/commands/import/plan.ts';
import { type ImportRow, readRows } from '../../../../bin/commands/import/rows.ts';
import { importRow, staleKeys } from '../../../../bin/commands/import/run.ts';
import { hashApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { balanceOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { accountsThrough, keysThrough, ledgerThrough } from '../../../support/memory/every-call.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAccountStore } from '../../../support/memory/memory-account-store.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'import-run-'));

const PEPPER = 'pepper of the tests';
const olderPeppers: readonly string[] = [];
const CSV = 'account,balance_usd,chat_id\none,5,\ntwo,0,\nthree,2.5,77\nold,1,\n';
const rowsOf = (text: string): readonly ImportRow[] => readRows(Buffer.from(text)).rows;

/** Creates stores that outlive every run. The account `old` exists with its own key and 3 USD. */
const world = async (name: string) => {
  const ledger = new MemoryLedgerStore();
  const keyStore = new MemoryKeyStore(ledger);
  const accounts = new MemoryAccountStore(ledger, keyStore);
  const key = { hash: 'old-hash', label: { prefix: 'p', lastFour: 'last' }, pepperId: 'x', isShown: true };
  await accounts.open({ accountId: 'old', chatId: undefined, key, creditPicos: 3n * 10n ** 12n, atMs: 0 });
  return { ledger, keyStore, accounts, path: join(folder, `${name}.csv`) };
};
type World = Awaited<ReturnType<typeof world>>;

class Death extends Error {}

interface Ending {
  /** Index, from 0, of the store call that goes wrong: the process dies before or after it, or its response is lost. */
  readonly turn: number;
  readonly when: 'before' | 'after' | 'lost';
}

/** Plans and imports every row once. Returns the number of store calls, or undefined if the process died. */
const run = async (it: World, text = CSV, ending?: Ending): Promise<number | undefined> => {
  let turn = -1;
  const step = async <T>(call: () => Promise<T> | T): Promise<T> => {
    turn += 1;
    const isNow = turn === ending?.turn;
    if (isNow && ending?.when === 'before') throw new Death();
    const result = await call();
    if (isNow && ending?.when === 'lost') throw new StoreError('unavailable', 'no response arrived');
    if (isNow) throw new Death();
    return result;
  };
  const real = openKeyFile(it.path, 'b1');
  const pending: (() => void)[] = [];
  const file: KeyFile = { ...real, add: (account, apiKey) => pending.push(() => real.add(account, apiKey)) };
  const through = <T>(_: string, call: () => Promise<T>): Promise<T> => step(call);
  const accounts = accountsThrough(through, it.accounts);
  const deps = {
    ledger: ledgerThrough(through, it.ledger),
    accounts: {
      ...accounts,
      open: async (account: Parameters<typeof accounts.open>[0]) => {
        for (const put of pending.splice(0)) await step(put);
        return accounts.open(account);
      },
    },
    keyStore: keysThrough(through, it.keyStore),
    clock: new ManualClock(),
    random: () => 0,
    keys: { pepper: PEPPER, olderPeppers, newKeyBytes: () => randomBytes(32), file },
  };
  deps.clock.after = (_, callback) => {
    queueMicrotask(callback);
    return () => undefined;
  };
  try {
    for (const row of rowsOf(text)) {
      const planned = await planRow({ ...it, records: it.ledger }, 'b1', row);
      if ('reason' in planned) throw new Error(planned.reason);
      if (!planned.isDone) await importRow(deps, { ref: 'b1', reason: 'moved' }, planned);
    }
    return turn + 1;
  } catch (error) {
    if (!(error instanceof Death)) throw error;
    return undefined;
  } finally {
    real.close();
  }
};

const expectWhole = async (it: World): Promise<void> => {
  const balances = it.ledger.accounts().map((account) => [account.id, balanceOf(account) / 10n ** 11n]);
  expect(Object.fromEntries(balances)).toEqual({ old: 40n, one: 50n, two: 0n, three: 25n });
  for (const id of ['one', 'two', 'three']) {
    expect([...it.ledger.creditsOf(id).keys()]).toEqual([`import:b1:${id}`]);
  }
  expect([...it.ledger.creditsOf('old').keys()]).toEqual(['start', 'import:b1:old']);
  const file = openKeyFile(it.path, 'b1');
  const told = [...file.entries()];
  file.close();
  expect(told.map(([account]) => account)).toEqual(['one', 'two', 'three']);
  // A second line would contain a key that never worked.
  expect(readFileSync(it.path, 'utf8').split('\n')).toHaveLength(5);
  for (const [account, apiKey] of told) {
    expect((await it.keyStore.currentKey(account))?.hash).toBe(hashApiKey(PEPPER, apiKey));
  }
  expect(it.keyStore.size).toBe(4);
  expect((await it.accounts.chat('77'))?.accountId).toBe('three');
};

test.each(['before', 'after', 'lost'] as const)(
  'OPS-5 import: a repeat after a failed run (%s) credits once, and every key works',
  async (when) => {
    const calls = (await run(await world(`whole-${when}`))) ?? 0;
    expect(calls).toBeGreaterThan(10);
    for (let turn = 0; turn < calls; turn += 1) {
      const it = await world(`${when}-${turn}`);
      await run(it, CSV, { turn, when }).catch((error: unknown) => {
        // A row with a lost response may fail, because the next run completes it.
        if (when !== 'lost') throw error;
      });
      await run(it);
      await expectWhole(it);
      expect(await run(it)).toBe(0);
      await expectWhole(it);
    }
  },
);

test('OPS-5 import: another amount with the same --ref is rejected with the earlier amount', async () => {
  const it = await world('amounts');
  await run(it);
  const [row] = rowsOf(CSV.replace('one,5', 'one,6'));
  expect(await planRow({ ...it, records: it.ledger }, 'b1', row!)).toEqual({
    line: 2,
    account: 'one',
    reason: 'balance_usd: this import has already credited 5 USD. Use that amount, or another --ref',
  });
  expect(await planRow({ ...it, records: it.ledger }, 'b2', row!)).toMatchObject({ isDone: false, opens: false });
});

test.each([
  ['taken by another account', 'fresh,1,77', 'chat_id: already belongs to the account three. Correct or remove it'],
  [
    'new for an existing account',
    'old,1,78',
    'chat_id: the account exists with another chat or none. Remove the chat_id',
  ],
])('OPS-5 import: a chat that is %s is rejected', async (name, line, reason) => {
  const it = await world(name);
  await run(it);
  const [row] = rowsOf(`account,balance_usd,chat_id\n${line}\n`);
  expect(await planRow({ ...it, records: it.ledger }, 'b2', row!)).toMatchObject({ reason });
});

test('OPS-5 import: keys of the file that were replaced since are reported', async () => {
  const it = await world('stale');
  await run(it);
  const file = openKeyFile(it.path, 'b1');
  const keys = { pepper: PEPPER, olderPeppers, newKeyBytes: () => randomBytes(32), file };
  const deps = { ...it, clock: new ManualClock(), random: () => 0, keys };
  expect(await staleKeys(deps)).toEqual([]);
  const { hash } = (await it.keyStore.currentKey('two'))!;
  await it.keyStore.revokeKey('two', hash);
  expect(await staleKeys(deps)).toEqual(['two']);
  file.close();
});

test('AUTH-5 import: a run after a pepper change finds the keys of an earlier run', async () => {
  const it = await world('pepper');
  await run(it);
  const file = openKeyFile(it.path, 'b1');
  const newKeyBytes = () => randomBytes(32);
  const at = (pepper: string, older: readonly string[]) => ({
    ...it,
    clock: new ManualClock(),
    random: () => 0,
    keys: { pepper, olderPeppers: older, newKeyBytes, file },
  });
  const changed = at('a newer pepper of the tests', [PEPPER]);
  expect(await staleKeys(changed)).toEqual([]);
  expect(await staleKeys(at('a newer pepper of the tests', []))).toEqual(['one', 'two', 'three']);
  const [row] = rowsOf('account,balance_usd,chat_id\none,5,\n');
  const planned = { ...row!, isDone: false, opens: true, balanceBeforePicos: 0n };
  expect(await importRow(changed, { ref: 'b1', reason: 'moved' }, planned)).toBe(5n * 10n ** 12n);
  file.close();
});
