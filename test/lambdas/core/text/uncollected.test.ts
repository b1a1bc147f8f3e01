import { expect, test } from 'vitest';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { fails } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { answered, createWorld, heldFor, INPUT_PICOS, OUTPUT_PICOS, type World } from './text-world.ts';

const cost = 40n * INPUT_PICOS + 10n * OUTPUT_PICOS;
const held = heldFor(1_000);
const asked = (world: World) =>
  world.clock.until(world.ask({ outputTokensMax: 1_000 }).catch((error: unknown) => error));

test('OPS-3 a request meters what it holds, and what is charged and given back of it', async () => {
  const world = await createWorld();
  await asked(world);
  expect(world.money).toEqual([{ held }, { charged: cost, released: held - cost }]);
});

test('BILL-13, OPS-3 an answer after its hold was released is uncollected', async () => {
  const world: World = await createWorld({
    play: async () => {
      await sweep({ ...world.ports.ledger, clock: new ManualClock(world.clock.now() + 901_000) });
      return answered();
    },
  });
  expect(await asked(world)).toMatchObject({ code: 'internal_error' });
  expect(world.money).toEqual([{ held }, { released: held }, { uncollected: cost }]);
});

test('BILL-14, OPS-3 an answer that is withheld, since its charge cannot be written down, is uncollected', async () => {
  const world = await createWorld({
    fault: (method) => (method === 'putRecord' ? fails : undefined),
    outboxFaults: { put: [fails, fails] },
  });
  expect(await asked(world)).toMatchObject({ code: 'service_unavailable' });
  expect(world.notices).toEqual(['commit_failed']);
  expect(world.money).toEqual([{ held }, { uncollected: cost }]);
});
