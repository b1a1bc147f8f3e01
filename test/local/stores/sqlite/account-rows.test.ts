import { expect, test } from 'vitest';
import { readAccount } from '../../../../local/stores/sqlite/account-rows.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

test('BILL-21 an account is read with its holds and, once it has one, its counter', async () => {
  const db = await openTestDatabase();
  const store = createLedgerStore(db);
  await store.createAccount('one', Date.UTC(2026, 10, 26));
  expect(readAccount(db, 'other')).toBeUndefined();
  expect(readAccount(db, 'one')).toEqual({
    id: 'one',
    status: 'active',
    availablePicos: 0n,
    creditedPicos: 0n,
    returnedPicos: 0n,
    spentPicos: 0n,
    month: '2026-11',
    version: 0,
    holds: new Map(),
    caps: new Map(),
  });
  const insert = db.sql('INSERT INTO holds (account_id, hold_id, amount, expires_at) VALUES (?, ?, ?, ?)');
  for (const [holdId, amount] of [
    ['a.0', 1n],
    ['b.0', 2n],
  ] as const)
    insert.run('one', holdId, amount, 7);
  db.sql('UPDATE accounts SET uncollected_day = ?, uncollected = ? WHERE id = ?').run('2026-11-27', 2n ** 60n, 'one');
  expect(readAccount(db, 'one')).toMatchObject({
    holds: new Map([
      ['a.0', { amountPicos: 1n, expiresAtMs: 7 }],
      ['b.0', { amountPicos: 2n, expiresAtMs: 7 }],
    ]),
    uncollected: { day: '2026-11-27', picos: 2n ** 60n },
  });
  db.close();
});
