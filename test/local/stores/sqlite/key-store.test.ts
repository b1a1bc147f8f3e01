import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { bucketOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import { createKeyStore } from '../../../../local/stores/sqlite/key-store.ts';
import { accountNamed, OPENED_AT_MS } from '../../../contracts/account-subjects.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

test('OPS-11 BILL-20 a key of a file without the new columns gets an estimate factor', async () => {
  const path = newDatabasePath();
  const first = await openTestDatabase({ path });
  await createAccountStore(first).open(accountNamed('one'));
  first.close();
  const old = new DatabaseSync(path);
  for (const column of ['estimate_factor', 'estimate_factor_at']) old.exec(`ALTER TABLE keys DROP COLUMN ${column}`);
  old.close();
  const db = await openTestDatabase({ path });
  const keys = createKeyStore(db);
  const take = () => keys.take('one-key', bucketOf(10, 15), () => OPENED_AT_MS * 1_000);
  expect(await take()).toMatchObject({ kind: 'taken', key: { accountId: 'one' } });
  const factor = { factor: 3.4, atMs: OPENED_AT_MS };
  await keys.raiseFactor('one-key', factor);
  expect(await take()).toMatchObject({ kind: 'taken', key: { factor } });
  db.close();
});
