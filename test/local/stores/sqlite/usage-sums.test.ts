import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createUsageSums } from '../../../../local/stores/sqlite/usage-sums.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

const sums = {
  period: '2026-11-26',
  revision: 1,
  cells: [{ model: 'a', requests: 1, amountPicos: 2n ** 70n, inputTokens: 3, outputTokens: 4 }],
};

test('OPS-11, BILL-23 a database of an earlier release gets the table of sums', async () => {
  const path = newDatabasePath();
  await (await openTestDatabase({ path })).close();
  const old = new DatabaseSync(path);
  old.exec('DROP TABLE usage_sums; DROP TABLE late_charges');
  old.close();
  const first = await openTestDatabase({ path });
  await createUsageSums(first).keepUsageSums('one', [sums]);
  await first.close();
  const records = createUsageSums(await openTestDatabase({ path }));
  expect(await records.usageSums('one', '2026-11-26', '2026-11-26')).toEqual([sums]);
});

test('OPS-11 stored sums that are not JSON of cells are named', async () => {
  const db = await openTestDatabase();
  await db.write(() =>
    db.sql("INSERT INTO usage_sums (account_id, period, cells) VALUES ('one', '2026-11-26', '[{}]')").run(),
  );
  await expect(createUsageSums(db).usageSums('one', '2026-11-26', '2026-11-26')).rejects.toThrow('cells.0.requests');
});
