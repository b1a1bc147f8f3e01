import { describe, expect, test } from 'vitest';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { release } from '../../../../lambdas/core/ledger/release.ts';
import { apply, commit } from '../../../../lambdas/core/ledger/resolve.ts';
import { ServedHolds } from '../../../../lambdas/core/ledger/served-holds.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { createMoment, fails, withFaults } from '../../../support/memory/faults.ts';
import { ID, LIFETIME_MS, ledgerScene, settledRecord } from './ledger-scene.ts';

type Scene = Pick<Awaited<ReturnType<typeof ledgerScene>>, 'another' | 'clock' | 'deps' | 'order'>;

const hold = (scene: Scene, requestId: string, lifetimeMs = LIFETIME_MS) =>
  placeHold(scene.another({}), scene.order({ requestId, expiresAtMs: scene.clock.now() + lifetimeMs }));
const run = (scene: Scene) => scene.clock.until(sweep(scene.deps));
const nothing = { accounts: 0, released: 0, finished: 0, failed: 0 };

test('BILL-13 an expired hold is released exactly at its expiry', async () => {
  const scene = await ledgerScene(1_000n);
  await hold(scene, 'r');
  await scene.clock.advance(LIFETIME_MS - 1);
  expect(await run(scene)).toEqual(nothing);
  await scene.clock.advance(1);
  expect(await run(scene)).toEqual({ accounts: 1, released: 1, finished: 0, failed: 0 });
  expect(scene.account()).toMatchObject({ availablePicos: 1_000n, spentPicos: 0n, holds: new Map() });
  expect(scene.memory.recordsOf(ID)).toMatchObject([
    { holdId: 'r.0', requestId: 'r', outcome: 'released', amountPicos: 0n, reason: 'expired' },
  ]);
});

test('BILL-13 an expired hold with a recorded charge is settled, not released', async () => {
  const scene = await ledgerScene(1_000n);
  const { holdId } = await hold(scene, 'r');
  await commit(scene.deps, settledRecord(holdId, 70n, scene.clock.now()));
  await scene.clock.advance(LIFETIME_MS);
  expect(await run(scene)).toEqual({ accounts: 1, released: 0, finished: 1, failed: 0 });
  expect(scene.account()).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
});

test('BILL-13 open holds stay, and the account is swept again when the next of them expires', async () => {
  const scene = await ledgerScene(1_000n);
  await hold(scene, 'short');
  await hold(scene, 'long', LIFETIME_MS + 1_000);
  await scene.clock.advance(LIFETIME_MS);
  await run(scene);
  expect([...scene.account().holds.keys()]).toEqual(['long.0']);
  expect(scene.memory.sweepAtOf(ID)).toBe(scene.clock.now() + 1_000);
});

test('BILL-13 a late expiry does not hide holds that expire earlier', async () => {
  const scene = await ledgerScene(1_000n);
  await hold(scene, 'video', 7_200_000);
  await scene.clock.advance(LIFETIME_MS);
  await run(scene);
  expect(scene.memory.sweepAtOf(ID)).toBe(scene.clock.now() + LIFETIME_MS);
});

test('BILL-13 an account without holds leaves the sweep list', async () => {
  const scene = await ledgerScene(1_000n);
  const { holdId } = await hold(scene, 'r');
  await apply(scene.deps, await commit(scene.deps, settledRecord(holdId, 70n, 0)), 100n);
  await scene.clock.advance(LIFETIME_MS);
  expect(await run(scene)).toEqual({ ...nothing, accounts: 1 });
  expect(scene.memory.sweepAtOf(ID)).toBeUndefined();
  expect(await run(scene)).toEqual(nothing);
});

test('BILL-13 a hold placed while the list is being updated stays on the list', async () => {
  const moment = createMoment();
  const scene = await ledgerScene(1_000n, { reschedule: [{ kind: 'delayed', until: moment.until }] });
  await hold(scene, 'r');
  await scene.clock.advance(LIFETIME_MS);
  const running = run(scene);
  await scene.clock.flush();
  await hold(scene, 'new');
  moment.come();
  await running;
  expect(scene.memory.sweepAtOf(ID)).toBeDefined();
  await scene.clock.advance(LIFETIME_MS);
  expect(await run(scene)).toMatchObject({ released: 1 });
  expect(scene.account().holds.size).toBe(0);
});

describe('holds of requests that the own process serves', () => {
  const HOUR_MS = 3_600_000;
  const serving = async () => {
    const scene = await ledgerScene(1_000n);
    const monotonic = { ms: 0 };
    const deps = { ...scene.deps, served: new ServedHolds(() => monotonic.ms) };
    const placed = await placeHold(deps, scene.order());
    return { ...scene, deps, monotonic, placed, run: () => scene.clock.until(sweep(deps)) };
  };

  test('BILL-13 a step of the clock does not end a request in progress, which is charged', async () => {
    const scene = await serving();
    scene.clock.skip(HOUR_MS);
    expect(await scene.run()).toEqual({ ...nothing, accounts: 1 });
    const record = await commit(scene.deps, settledRecord(scene.placed.holdId, 70n, scene.clock.now()));
    await apply(scene.deps, record, 100n);
    expect(scene.account()).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
  });

  test('BILL-13 a hold that its request could not close is released at the end of its lifetime', async () => {
    const scene = await serving();
    scene.clock.skip(HOUR_MS);
    scene.monotonic.ms = LIFETIME_MS - 1;
    expect(await scene.run()).toMatchObject({ released: 0 });
    scene.monotonic.ms = LIFETIME_MS;
    expect(await scene.run()).toMatchObject({ released: 1 });
  });

  test('BILL-14 a hold that its request gave up without a record is released at its expiry', async () => {
    const scene = await serving();
    const deps = { ...scene.deps, store: scene.another({ putRecord: Array.from({ length: 9 }, () => fails) }).store };
    expect(await scene.clock.until(release(deps, scene.placed, { reason: 'upstream_error' }))).toBeUndefined();
    scene.clock.skip(LIFETIME_MS);
    expect(await scene.run()).toMatchObject({ released: 1 });
  });

  test('BILL-13 a hold of another process is released at its expiry', async () => {
    const scene = await serving();
    await hold(scene, 'other');
    scene.clock.skip(LIFETIME_MS);
    expect(await scene.run()).toMatchObject({ released: 1 });
    expect([...scene.account().holds.keys()]).toEqual([scene.placed.holdId]);
  });

  test('BILL-13 a recorded charge is applied, also while its request is served', async () => {
    const scene = await serving();
    await commit(scene.deps, settledRecord(scene.placed.holdId, 70n, scene.clock.now()));
    scene.clock.skip(HOUR_MS);
    expect(await scene.run()).toMatchObject({ finished: 1 });
    expect(scene.account()).toMatchObject({ spentPicos: 70n, holds: new Map() });
    expect(scene.deps.served.has(scene.placed.holdId)).toBe(false);
  });
});

describe('holds that another process placed while the clock was ahead', () => {
  const HOUR_MS = 3_600_000;
  const DAY_MS = 24 * HOUR_MS;
  /** Places a hold, sets the clock back, and sweeps with a process that serves no request. */
  const setBack = async (aheadMs: number, lifetimeMs = LIFETIME_MS) => {
    const scene = await ledgerScene(1_000n);
    scene.clock.skip(aheadMs);
    const { holdId } = await hold(scene, renderRequestId({ atMs: scene.clock.now(), random: 1 }), lifetimeMs);
    scene.clock.skip(-aheadMs);
    const startMs = scene.clock.now();
    const deps = { ...scene.deps, served: new ServedHolds(() => scene.clock.now() - startMs) };
    return { ...scene, holdId, deps, run: () => scene.clock.until(sweep(deps)) };
  };

  test.each([HOUR_MS, 40 * DAY_MS])(
    'BILL-13 a hold of a clock that was %i ms ahead is released after its lifetime',
    async (aheadMs) => {
      const scene = await setBack(aheadMs, 2 * LIFETIME_MS);
      expect(await scene.run()).toEqual({ ...nothing, accounts: 1 });
      expect(scene.memory.sweepAtOf(ID)).toBe(scene.clock.now() + LIFETIME_MS);
      await scene.clock.advance(LIFETIME_MS);
      expect(await scene.run()).toEqual({ ...nothing, accounts: 1 });
      await scene.clock.advance(LIFETIME_MS - 1);
      expect(await scene.run()).toEqual(nothing);
      await scene.clock.advance(1);
      expect(await scene.run()).toEqual({ ...nothing, accounts: 1, released: 1 });
      expect(scene.account()).toMatchObject({ availablePicos: 1_000n, holds: new Map() });
    },
  );

  test('BILL-13 a recorded charge of that time is applied by the first sweep', async () => {
    const scene = await setBack(HOUR_MS);
    await commit(scene.deps, settledRecord(scene.holdId, 70n, scene.clock.now() + HOUR_MS));
    expect(await scene.run()).toMatchObject({ finished: 1 });
    expect(scene.account()).toMatchObject({ spentPicos: 70n, holds: new Map() });
  });

  test('BILL-13 a hold of a clock that differs by less than a minute ends at its expiry', async () => {
    const scene = await setBack(60_000);
    await scene.clock.advance(LIFETIME_MS + 59_999);
    expect(await scene.run()).toMatchObject({ released: 0 });
    await scene.clock.advance(1);
    expect(await scene.run()).toMatchObject({ released: 1 });
  });
});

test('BILL-14 an account that cannot be read is left for the next run, and the others are swept', async () => {
  const scene = await ledgerScene(1_000n, { readAccount: [fails] });
  await hold(scene, 'r');
  await scene.memory.createAccount('other', 0);
  await scene.memory.credit({ accountId: 'other', ref: 'first', amountPicos: 500n, reason: 'test', at: 0 });
  await placeHold(scene.another({}), scene.order({ accountId: 'other', requestId: 's' }));
  await scene.clock.advance(LIFETIME_MS);
  expect(await run(scene)).toEqual({ accounts: 2, released: 1, finished: 0, failed: 1 });
  expect(await run(scene)).toEqual({ accounts: 1, released: 1, finished: 0, failed: 0 });
});

test('OPS-11 an expired hold of a newer release is left to it, without a record', async () => {
  const scene = await ledgerScene(1_000n);
  const { holdId } = await hold(scene, 'r');
  await hold(scene, 's');
  const readAccount = async (id: string) => {
    const account = await scene.deps.store.readAccount(id);
    const holds = [...(account?.holds ?? [])].map(
      ([one, found]) => [one, one === holdId ? { ...found, isNewer: true as const } : found] as const,
    );
    return account && { ...account, holds: new Map(holds) };
  };
  await scene.clock.advance(LIFETIME_MS);
  const deps = { ...scene.deps, store: { ...withFaults(scene.deps.store, {}), readAccount } };
  expect(await scene.clock.until(sweep(deps))).toEqual({ accounts: 1, released: 1, finished: 0, failed: 0 });
  expect([...scene.account().holds.keys()]).toEqual([holdId]);
  expect(scene.memory.recordsOf(ID)).toMatchObject([{ holdId: 's.0' }]);
  expect(scene.memory.sweepAtOf(ID)).toBe(scene.clock.now() + LIFETIME_MS);
});
