import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeHold } from '../../../lambdas/core/ledger/hold.ts';
import type { LedgerDependencies } from '../../../lambdas/core/ledger/ledger.ts';
import { release } from '../../../lambdas/core/ledger/release.ts';
import { apply, commit } from '../../../lambdas/core/ledger/resolve.ts';
import { sweep } from '../../../lambdas/core/ledger/sweep.ts';
import { type Movement, movements } from '../../../lambdas/core/metrics.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { LIFETIME_MS, ledgerScene, settledRecord } from './ledger/ledger-scene.ts';

const metered = (deps: LedgerDependencies) => {
  const sums = new Map<Movement, bigint>(movements.map((movement) => [movement, 0n]));
  const of = (movement: Movement): bigint => sums.get(movement) ?? 0n;
  return {
    deps: {
      ...deps,
      meter: (picos) => {
        for (const movement of movements) sums.set(movement, of(movement) + (picos[movement] ?? 0n));
      },
    } satisfies LedgerDependencies,
    moved: () => Object.fromEntries([...sums].filter(([, picos]) => picos !== 0n)),
    of,
  };
};

const charge = async (
  deps: LedgerDependencies,
  holdId: string,
  amountPicos: bigint,
  heldPicos: bigint,
): Promise<void> => {
  const record = await commit(deps, settledRecord(holdId, amountPicos, deps.clock.now()));
  await apply(deps, record, heldPicos);
};

test.each([
  [60n, { held: 100n, charged: 60n, released: 40n }],
  [100n, { held: 100n, charged: 100n }],
  [130n, { held: 100n, charged: 130n, overage: 30n }],
])('OPS-3 a charge of %s on a hold of 100 is metered once', async (amountPicos, moved) => {
  const scene = await ledgerScene(1_000n);
  const meter = metered(scene.deps);
  const { holdId } = await placeHold(meter.deps, scene.order());
  await charge(meter.deps, holdId, amountPicos, 100n);
  await charge(meter.deps, holdId, amountPicos, 100n);
  expect(meter.moved()).toEqual(moved);
});

test('OPS-3 released money is metered once, by the request or by the sweeper', async () => {
  const scene = await ledgerScene(1_000n);
  const meter = metered(scene.deps);
  await release(meter.deps, await placeHold(meter.deps, scene.order()), { reason: 'upstream_error' });
  expect(meter.moved()).toEqual({ held: 100n, released: 100n });
  await placeHold(meter.deps, scene.order({ requestId: 's', amountPicos: 7n }));
  scene.clock.skip(LIFETIME_MS);
  await sweep(meter.deps);
  await sweep(meter.deps);
  expect(meter.moved()).toEqual({ held: 107n, released: 107n });
});

test('OPS-3 a rejected hold is not metered', async () => {
  const scene = await ledgerScene(10n);
  const meter = metered(scene.deps);
  await expect(placeHold(meter.deps, scene.order())).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect(meter.moved()).toEqual({});
});

test('OPS-3 after all holds are closed, held + overage equals charged + released', async () => {
  const request = fc.record({
    held: fc.bigInt({ min: 0n, max: 500n }),
    end: fc.oneof(fc.constant('released' as const), fc.constant('died' as const), fc.bigInt({ min: 0n, max: 900n })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
      const scene = await ledgerScene(1_000_000n);
      const meter = metered(scene.deps);
      for (const [index, { held, end }] of requests.entries()) {
        const order = scene.order({ requestId: `r${index}`, amountPicos: held });
        const placedHold = await placeHold(meter.deps, order);
        if (end === 'released') await release(meter.deps, placedHold, { reason: 'upstream_error' });
        else if (end !== 'died') await charge(meter.deps, placedHold.holdId, end, held);
      }
      scene.clock.skip(LIFETIME_MS);
      await sweep(meter.deps);
      expect(meter.of('held') + meter.of('overage')).toBe(meter.of('charged') + meter.of('released'));
      expect(meter.of('charged')).toBe(scene.account().spentPicos);
    }),
    randomRuns(import.meta.filename, { quick: 30, long: 2_000 }),
  );
});
