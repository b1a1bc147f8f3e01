import { expect, test } from 'vitest';
import { countedDays, rebuildUsage } from '../../../../lambdas/core/ledger/rebuild-usage.ts';
import { ID } from './ledger-scene.ts';
import { DAY, NOVEMBER, usageScene } from './usage-scene.ts';

/** An account whose stored sums are wrong: two days and the API keys, as an earlier release could leave them. */
const wrongSums = async () => {
  const scene = await usageScene(NOVEMBER + 200 * DAY);
  const { memory, pay, summarize, spent } = scene;
  for (const day of [0, 1, 2, 150]) await pay(NOVEMBER + day * DAY, { amountPicos: 2n });
  await summarize('2026-11-01', '2026-11-03');
  await summarize('2027-03-31');
  await spent();
  for (const sums of await memory.usageSums(ID, '', '~')) {
    if (sums.period === '2026-11-02') continue;
    const cells = sums.cells.map((cell) => ({ ...cell, requests: cell.requests + 1, amountPicos: 9n }));
    await memory.keepUsageSums(ID, [{ ...sums, cells, revision: sums.revision + 1 }]);
  }
  return scene;
};

test('BILL-23 a rebuild corrects the stored sums of all days and API keys', async () => {
  const { deps, summarize, spent } = await wrongSums();
  expect(await summarize('2026-11-01', '2026-11-03')).toMatchObject({ requests: { '2026-11-01': 2, '2026-11-02': 1 } });
  expect(await spent()).toMatchObject({ picos: { k: 9n } });
  expect(await countedDays(deps, ID)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03', '2027-03-31']);
  expect(await rebuildUsage(deps, ID)).toEqual(['2026-11-01', '2026-11-03', '2027-03-31', 'keys']);
  const right = { '2026-11-01': 1, '2026-11-02': 1, '2026-11-03': 1 };
  expect(await summarize('2026-11-01', '2026-11-03')).toMatchObject({ requests: right });
  expect(await summarize('2027-03-31')).toMatchObject({ requests: { '2027-03-31': 1 } });
  expect(await spent()).toMatchObject({ picos: { k: 8n }, isComplete: true });
  expect(await rebuildUsage(deps, ID)).toEqual([]);
});

test('BILL-23 a summary that runs during a rebuild does not store the wrong sums again', async () => {
  const { deps, memory, pay, clock, summarize, spent } = await wrongSums();
  await pay(clock.now() - 2 * DAY);
  const usageSums = memory.usageSums.bind(memory);
  const { promise: isRebuilt, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  memory.usageSums = async (...values) => {
    const sums = await usageSums(...values);
    calls += 1;
    if (calls === 1) await isRebuilt;
    return sums;
  };
  const slow = spent();
  await clock.flush();
  await rebuildUsage(deps, ID);
  resolve();
  await slow;
  expect(await spent()).toMatchObject({ picos: { k: 9n }, isComplete: true });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 } });
});

test('BILL-23 a rebuild of a long history reads until it is complete', async () => {
  const { deps, charge, spent } = await usageScene(NOVEMBER + 3 * DAY);
  for (let index = 0; index < 6_000; index += 1) await charge(NOVEMBER + index);
  await rebuildUsage(deps, ID);
  expect(await spent()).toMatchObject({ picos: { k: 6_000n }, isComplete: true, read: expect.any(Number) });
});
