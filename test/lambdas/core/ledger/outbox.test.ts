import { expect, test } from 'vitest';
import { sleep } from '../../../../lambdas/core/clock.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { OUTBOX_PAGE } from '../../../../lambdas/core/ledger/ledger.ts';
import { settleOutbox } from '../../../../lambdas/core/ledger/outbox.ts';
import { withOutboxFaults } from '../../../support/memory/faults.ts';
import { ledgerScene, settledRecord } from './ledger-scene.ts';

/** An outbox with one entry that can be settled, behind others that cannot be read. */
const fullScene = async (unreadable: number, readMs: number) => {
  const scene = await ledgerScene(1_000n);
  const { holdId, amountPicos } = await placeHold(scene.deps, scene.order({ requestId: 'z' }));
  for (let number = 0; number < unreadable; number += 1) {
    const record = settledRecord(`a${String(number).padStart(5, '0')}.0`, 1n, scene.clock.now());
    await scene.outbox.put({ record, holdAmountPicos: 1n });
  }
  await scene.outbox.put({ record: settledRecord(holdId, 70n, scene.clock.now()), holdAmountPicos: amountPicos });
  const read = async (id: string) => {
    await sleep(scene.clock, readMs);
    if (id !== holdId) throw new Error('cannot be read');
    return scene.outbox.read(id);
  };
  const outbox = { ...withOutboxFaults(scene.outbox, {}), read };
  const run = (after?: string) => scene.clock.until(settleOutbox({ ...scene.deps, outbox }, after));
  return { ...scene, run };
};

test('BILL-14 a run settles an entry behind more than one page of entries that fail', async () => {
  const scene = await fullScene(OUTBOX_PAGE, 0);
  expect(await scene.run()).toMatchObject({ settled: 1, failed: OUTBOX_PAGE, nextAfter: undefined });
  expect(scene.account()).toMatchObject({ spentPicos: 70n, holds: new Map() });
});

test('BILL-14 a run ends after 40 s, and the next one continues with the entries that are left', async () => {
  const scene = await fullScene(400, 1_000);
  const startedAtMs = scene.clock.now();
  const first = await scene.run();
  expect([first.failed, first.nextAfter, scene.clock.now() - startedAtMs]).toEqual([320, 'a00319.0', 40_000]);
  expect(scene.account().spentPicos).toBe(0n);
  expect(await scene.run(first.nextAfter)).toMatchObject({ settled: 1, failed: 80, nextAfter: undefined });
  expect(scene.account().spentPicos).toBe(70n);
});
