import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type EmbeddedStores, openEmbeddedStores } from '../../local/embedded-stores.ts';
import { accountNamed } from '../contracts/account-subjects.ts';

const NOW = Date.UTC(2026, 10, 1);
const YEAR_MS = 365 * 86_400_000;

let folder: string;
let stores: EmbeddedStores;
beforeEach(async () => {
  // The disk is checked once a second. Fake timers keep a check from running between the steps of a test.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  stores = await openEmbeddedStores(join(folder, 'database'), { filesFolder: join(folder, 'files') });
  await stores.deps.accounts.open(accountNamed('one', { creditPicos: 10n }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await stores.close();
  rmSync(folder, { recursive: true, force: true });
});

const hold = () => {
  const times = { expiresAtMs: NOW, sweepAtMs: NOW, previousHoldId: undefined };
  return stores.deps.ledgerStore.hold({ accountId: 'one', holdId: 'r.0', amountPicos: 1n, ...times });
};

test('OPS-9 GEN-10 a full database frees the reserved space, rejects holds and is degraded', async () => {
  const { db } = stores;
  const reserve = join(folder, 'database/reserve');
  expect([existsSync(reserve), await stores.problems()]).toEqual([true, []]);
  const { page_count: pages } = db.sql('PRAGMA page_count').get() ?? {};
  db.connection.exec(`PRAGMA max_page_count = ${pages}`);
  const large = () => db.sql('INSERT INTO facts (name, value) VALUES (?, ?)').run('large', 'x'.repeat(100_000));
  await expect(db.write(large)).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
  expect(existsSync(reserve)).toBe(false);
  db.connection.exec('PRAGMA max_page_count = 10000');
  await expect(hold()).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
  expect(await stores.problems()).toEqual(['disk_space']);
});

test('BILL-14 OPS-8 an outbox entry waits until the disk has every hold', async () => {
  await hold();
  const durable = vi.spyOn(stores.db, 'durable').mockRejectedValue(new Error('no disk'));
  const record = {
    accountId: 'one',
    holdId: 'r.0',
    requestId: 'r',
    outcome: 'settled',
    amountPicos: 1n,
    at: 0,
  } as const;
  await expect(stores.deps.outbox.put({ record, holdAmountPicos: 1n })).rejects.toThrow('no disk');
  expect(durable).toHaveBeenCalledOnce();
  expect(await stores.deps.outbox.list()).toEqual([]);
});

test('IMG-6 the minute worker removes expired rows and expired files', async () => {
  const ref = { accountId: 'one', keyHash: 'key' };
  const times = { nowMs: NOW, leaseUntilMs: NOW, expiresAtMs: NOW };
  await stores.deps.claims.claim({ ...ref, owner: 'first', fingerprint: 'print', dispatchesMax: 6, ...times });
  await stores.deps.answers.put('response', 'text');
  await stores.prune(Date.now() + YEAR_MS);
  expect(await stores.deps.claims.read(ref)).toBeUndefined();
  expect(await stores.deps.answers.get('response')).toBeUndefined();
});
