import { expect, test } from 'vitest';
import { createSweepHandler } from '../../../../lambdas/functions/wiring/sweep-handler.ts';
import { withFaults } from '../../../support/memory/faults.ts';
import { createTendingScene, EXPIRY_MS } from './tending-scene.ts';

test('BILL-13, OPS-3 an unreadable account fails the run after all others are swept', async () => {
  const { deps, clock, notices, measured, accounts } = await createTendingScene();
  await clock.advance(EXPIRY_MS);
  const unreadable = new Error('cannot be read');
  const readAccount = async (accountId: string) => {
    if (accountId === 'one') throw unreadable;
    return deps.ledgerStore.readAccount(accountId);
  };
  const ledgerStore = { ...withFaults(deps.ledgerStore, {}), readAccount };
  await expect(clock.until(createSweepHandler({ ...deps, ledgerStore })())).rejects.toMatchObject({
    errors: [unreadable],
    message: '1 accounts or holds could not be swept',
  });
  expect(accounts()).toEqual([
    ['one', 0n, 1],
    ['two', 0n, 0],
    ['three', 0n, 0],
  ]);
  expect(measured).toContainEqual({ swept_released: 2, swept_finished: 0, sweep_failed: 1 });
  expect(notices).toEqual([['holds_swept', { released: '2', finished: '0', failed: '1' }]]);
});

test('BILL-13 a process whose clock is wrong sweeps nothing, and says so', async () => {
  const { deps, clock, notices, measured, accounts } = await createTendingScene();
  await clock.advance(EXPIRY_MS);
  const problems: (string | undefined)[] = ['the clock is wrong', undefined];
  const run = createSweepHandler({ ...deps, clockProblem: () => problems.shift() });
  await run();
  expect([notices, measured]).toEqual([[['clock_skewed', { worker: 'sweep', problem: 'the clock is wrong' }]], []]);
  expect(accounts().map(([, , holds]) => holds)).toEqual([1, 1, 1]);
  await run();
  expect(accounts().map(([, , holds]) => holds)).toEqual([0, 0, 0]);
});

test('OPS-3 a run with nothing to sweep is measured and logs nothing', async () => {
  const { deps, notices, measured } = await createTendingScene();
  await createSweepHandler(deps)();
  expect(measured).toEqual([{ swept_released: 0, swept_finished: 0, sweep_failed: 0 }]);
  expect(notices).toEqual([]);
});
