import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../../bin/stores.ts';
import { renderRequestId } from '../../../lambdas/core/request-id.ts';
import { runHere } from '../../support/scripted-terminal.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const ID = 'one';

/** Opens the command line on a data folder, whose stored sums of 1 November count one request as two. */
const openCli = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'usage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { records, ledger, close } = await openEmbedded(folder);
  await ledger.createAccount(ID, NOVEMBER);
  const requestId = renderRequestId({ atMs: NOVEMBER, random: 1 });
  const record = { accountId: ID, requestId, holdId: `${requestId}.0`, at: NOVEMBER, keyId: 'k' };
  await ledger.putRecord({ ...record, outcome: 'settled', amountPicos: 3n });
  const cells = [{ keyId: 'k', requests: 2, amountPicos: 6n, inputTokens: 0, outputTokens: 0 }];
  await records.keepUsageSums(ID, [{ period: '2026-11-01', cells, revision: 1 }]);
  await close();
  const stored = async () => {
    const stores = await openEmbedded(folder);
    const sums = await stores.records.usageSums(ID, '', '~');
    await stores.close();
    return sums.flatMap(({ period, cells: some }) => some.map(({ requests }) => [period, requests]));
  };
  return {
    stored,
    cli: (args: readonly string[], answer?: boolean) =>
      runHere(['usage', 'rebuild', ...args], { DATA_DIR: folder }, answer),
  };
};

test('OPS-5, BILL-23 usage rebuild corrects stored sums, and a repeat changes nothing', async () => {
  const { cli, stored } = await openCli();
  const first = await cli([ID, '--yes', '--json']);
  expect([first.status, JSON.parse(first.stdout)]).toEqual([0, { account: ID, days: 1, changed: ['2026-11-01'] }]);
  const right = [
    ['2026-11-01', 1],
    ['keys', 1],
  ];
  expect(await stored()).toEqual(right);
  const again = await cli([ID, '--yes', '--json']);
  expect([again.status, JSON.parse(again.stdout).changed]).toEqual([0, []]);
  expect(await stored()).toEqual(right);
});

test('OPS-5 usage rebuild changes nothing in a dry run, or if the operator declines', async () => {
  const { cli, stored } = await openCli();
  const dry = await cli([ID, '--dry-run']);
  expect(dry).toMatchObject({ status: 0, stderr: expect.stringContaining('dry run: nothing was changed') });
  expect(dry.stdout).toMatch(/^days +1$/m);
  const declined = await cli([ID], false);
  expect([declined.status, declined.asked.length]).toEqual([1, 1]);
  expect(await stored()).toEqual([['2026-11-01', 2]]);
});

test('OPS-5 usage rebuild of an unknown account is 1, and without a confirmation 2', async () => {
  const { cli } = await openCli();
  expect(await cli(['unknown', '--yes'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no such account'),
  });
  expect(await cli([ID])).toMatchObject({ status: 2 });
});
