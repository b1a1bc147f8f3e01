import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('BILL-13 the search finds a violation when a clause of the ledger is missing', () => {
  const { stdout, status } = spawnSync(
    process.execPath,
    ['test/search/run.ts', '--clauses', '--only', 'obey-record,on-the-list'],
    { cwd: join(import.meta.dirname, '../../../..'), encoding: 'utf8' },
  );
  expect(status).toBe(0);
  expect(stdout).toContain('an open hold that no sweep can find');
  expect(stdout).not.toContain('NOTHING FOUND');
});
