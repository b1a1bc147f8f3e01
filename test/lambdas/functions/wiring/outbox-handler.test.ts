import { expect, test } from 'vitest';
import { createOutboxHandler } from '../../../../lambdas/functions/wiring/outbox-handler.ts';
import { withOutboxFaults } from '../../../support/memory/faults.ts';
import { createTendingScene } from './tending-scene.ts';

const unreadable = new Error('cannot be read');
const fails = { errors: [unreadable], message: '1 outbox entries could not be settled' };

test('BILL-14, OPS-3 an unreadable entry fails the run after all others are charged', async () => {
  const { deps, clock, notices, measured, enqueueSettlement, accounts } = await createTendingScene();
  for (const accountId of ['one', 'two', 'three']) await enqueueSettlement(accountId, 0);
  const read = async (holdId: string) => {
    if (holdId === 'one.0') throw unreadable;
    return deps.outbox.read(holdId);
  };
  const outbox = { ...withOutboxFaults(deps.outbox, {}), read };
  await expect(clock.until(createOutboxHandler({ ...deps, outbox })())).rejects.toMatchObject(fails);
  expect(accounts()).toEqual([
    ['one', 0n, 1],
    ['two', 400_000n, 0],
    ['three', 400_000n, 0],
  ]);
  expect(measured).toContainEqual({ notes_late: 0, notes_failed: 1, note_age_s: undefined });
  expect(notices).toEqual([['notes_settled', { settled: '2', late: '0', failed: '1' }]]);
});

test('BILL-14, OPS-3 entries that cannot be removed fail the run, which reports the oldest age', async () => {
  const { deps, clock, notices, measured, enqueueSettlement, accounts } = await createTendingScene();
  await clock.advance(30_000);
  await enqueueSettlement('one', 20_000);
  await enqueueSettlement('two', 5_000);
  await enqueueSettlement('three', 10_000);
  const remove = async (holdId: string) => {
    if (holdId !== 'three.0') throw unreadable;
    await deps.outbox.remove(holdId);
  };
  const outbox = { ...withOutboxFaults(deps.outbox, {}), remove };
  const twice = { errors: [unreadable, unreadable], message: '2 outbox entries could not be settled' };
  await expect(clock.until(createOutboxHandler({ ...deps, outbox })())).rejects.toMatchObject(twice);
  expect(accounts().map(([, spent]) => spent)).toEqual([400_000n, 400_000n, 400_000n]);
  expect(measured).toContainEqual({ notes_late: 0, notes_failed: 2, note_age_s: 25 });
  expect(notices).toEqual([['notes_settled', { settled: '1', late: '0', failed: '2' }]]);
});

test('BILL-14 a run continues where the time of the one before it ended', async () => {
  const { deps, clock } = await createTendingScene();
  const lists: (string | undefined)[] = [];
  const list = async (after?: string) => {
    lists.push(after);
    return ['a.0', 'b.0'].filter((holdId) => holdId > (after ?? ''));
  };
  const read = async () => {
    clock.skip(40_000);
    return undefined;
  };
  const run = createOutboxHandler({ ...deps, outbox: { ...withOutboxFaults(deps.outbox, {}), list, read } });
  for (let count = 0; count < 3; count += 1) await run();
  expect(lists).toEqual([undefined, 'a.0', undefined]);
});

test('OPS-3 a run without entries is measured and logs nothing', async () => {
  const { deps, notices, measured } = await createTendingScene();
  await createOutboxHandler(deps)();
  expect(measured).toEqual([{ notes_late: 0, notes_failed: 0, note_age_s: undefined }]);
  expect(notices).toEqual([]);
});
