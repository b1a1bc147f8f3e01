import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { HoldBreaker } from '../../../../lambdas/core/ledger/hold-breaker.ts';
import type { LedgerDependencies } from '../../../../lambdas/core/ledger/ledger.ts';
import { apply, commit } from '../../../../lambdas/core/ledger/resolve.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { StoreTime } from '../../../../lambdas/core/retry.ts';
import { through } from '../../../support/memory/every-call.ts';
import { createMoment, type Fault, fails, losesReply } from '../../../support/memory/faults.ts';
import { ID, ledgerScene, settledRecord } from './ledger-scene.ts';

const never: Fault = { kind: 'delayed', until: new Promise<void>(() => undefined) };
const openHolds = (scene: Awaited<ReturnType<typeof ledgerScene>>) => [...scene.account().holds.keys()];

const codeOf = async (pending: Promise<unknown>): Promise<string> => {
  const error: unknown = await pending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof GatewayError ? error.code : 'no error';
};

describe('a hold that was given up', () => {
  test('BILL-13 is released immediately when its reply was lost', async () => {
    const scene = await ledgerScene(1_000n, { hold: losesReply });
    expect(await codeOf(scene.clock.until(placeHold(scene.deps, scene.order())))).toBe('service_unavailable');
    expect(scene.account()).toMatchObject({ availablePicos: 1_000n, holds: new Map() });
  });

  test.each([4_000, 14_000])('BILL-13 is released within 20 s when it lands after %i ms', async (lateMs) => {
    const landing = createMoment();
    const late: Fault = { kind: 'lands-late', until: landing.until };
    const scene = await ledgerScene(1_000n, { hold: late });
    expect(await codeOf(scene.clock.until(placeHold(scene.deps, scene.order())))).toBe('service_unavailable');
    await scene.clock.advance(lateMs);
    landing.come();
    await scene.deps.store.landed();
    expect(openHolds(scene).length).toBeGreaterThan(0);
    await scene.clock.advance(20_000 - lateMs);
    expect(scene.account()).toMatchObject({ availablePicos: 1_000n, holds: new Map() });
  });

  test('BILL-13 is released by the next sweep, also if it lands late and its process has ended', async () => {
    const landing = createMoment();
    const scene = await ledgerScene(1_000n, { hold: { kind: 'lands-late', until: landing.until } });
    const ended: LedgerDependencies = { ...scene.deps, clock: { now: () => scene.clock.now(), after: () => () => {} } };
    expect(await codeOf(placeHold({ ...ended, clock: scene.clock }, scene.order()))).toBe('service_unavailable');
    landing.come();
    await scene.deps.store.landed();
    scene.clock.skip(15_000);
    await sweep({ ...scene.another({}), clock: ended.clock });
    expect(scene.account()).toMatchObject({ availablePicos: 1_000n, holds: new Map() });
  });

  test.each([
    { dueInMs: 600_000, sweptInMs: 15_000 },
    { dueInMs: 10_000, sweptInMs: 10_000 },
  ])('BILL-13 has its account, due in $dueInMs ms, swept in $sweptInMs ms', async ({ dueInMs, sweptInMs }) => {
    const scene = await ledgerScene(1_000n, { hold: fails });
    const startedAtMs = scene.clock.now();
    await scene.memory.reschedule(ID, startedAtMs + dueInMs, startedAtMs + dueInMs);
    await codeOf(scene.clock.until(placeHold(scene.deps, scene.order())));
    expect(scene.memory.sweepAtOf(ID)).toBe(startedAtMs + sweptInMs);
  });

  test('BILL-13 counts as held and released, so that both sums agree', async () => {
    const scene = await ledgerScene(1_000n, { hold: losesReply });
    const sums = { held: 0n, released: 0n };
    const meter: NonNullable<LedgerDependencies['meter']> = ({ held = 0n, released = 0n }) => {
      sums.held += held;
      sums.released += released;
    };
    await codeOf(scene.clock.until(placeHold({ ...scene.deps, meter }, scene.order())));
    expect(sums).toEqual({ held: 200n, released: 200n });
  });
});

describe('the sweeper', () => {
  test('BILL-13 applies a record of an unexpired hold after 5 s, and leaves a new record alone', async () => {
    const scene = await ledgerScene(1_000n);
    const { holdId } = await placeHold(scene.another({}), scene.order({ expiresAtMs: scene.clock.now() + 7_200_000 }));
    await commit(scene.deps, settledRecord(holdId, 70n, scene.clock.now() + 300_000));
    await scene.clock.advance(304_999);
    expect(await scene.clock.until(sweep(scene.deps))).toMatchObject({ accounts: 1, finished: 0 });
    await scene.clock.advance(300_000);
    expect(await scene.clock.until(sweep(scene.deps))).toMatchObject({ accounts: 1, finished: 1 });
    expect(scene.account()).toMatchObject({ availablePicos: 930n, spentPicos: 70n, holds: new Map() });
  });
});

describe('the time for store calls', () => {
  test('BILL-14 a store without replies ends the request after 3 s, and its error follows within 0.5 s', async () => {
    const scene = await ledgerScene(1_000n, { hold: never, putRecord: never });
    const startedAtMs = scene.clock.now();
    const order = scene.order({ storeTime: new StoreTime(scene.clock) });
    expect(await codeOf(scene.clock.until(placeHold(scene.deps, order)))).toBe('service_unavailable');
    expect(scene.clock.now() - startedAtMs).toBeLessThan(3_500);
    expect(scene.deps.store.calls.filter((name) => name === 'hold')).toHaveLength(1);
  });

  test('BILL-14 earlier calls of the request count toward the 3 s', async () => {
    const scene = await ledgerScene(1_000n, { hold: never });
    const storeTime = new StoreTime(scene.clock);
    await scene.clock.until(storeTime.spend(() => new Promise<void>((done) => scene.clock.after(2_000, done))));
    expect(storeTime.leftMs).toBe(1_000);
    const startedAtMs = scene.clock.now();
    await codeOf(scene.clock.until(placeHold(scene.deps, scene.order({ storeTime }))));
    expect(scene.clock.now() - startedAtMs).toBe(1_000);
    // Only one id was sent, so only that one is released.
    expect(scene.memory.recordsOf(ID).map(({ holdId }) => holdId)).toEqual(['r.0']);
  });
});

describe('the breaker', () => {
  const openBreaker = async () => {
    const scene = await ledgerScene(1_000n, { hold: (Array(20) as undefined[]).fill(undefined).map(() => fails) });
    const breaker = new HoldBreaker(scene.clock);
    const deps = { ...scene.deps, breaker };
    for (let request = 0; request < 5; request += 1) {
      await codeOf(scene.clock.until(placeHold(deps, scene.order({ requestId: `q${request}` }))));
    }
    return { scene, deps };
  };

  test('BILL-14 rejects new holds without a store call after five requests without a confirmed hold', async () => {
    const { scene, deps } = await openBreaker();
    const calls = scene.deps.store.calls.length;
    const error: unknown = await placeHold(deps, scene.order()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'service_unavailable', status: 503, retryAfterSeconds: 5 });
    expect(scene.deps.store.calls).toHaveLength(calls);
  });

  test('BILL-14 admits one request after 5 s, and all requests after its success', async () => {
    const { scene, deps } = await openBreaker();
    await scene.clock.advance(5_000);
    const probe = placeHold(deps, scene.order({ requestId: 'probe' }));
    expect(await codeOf(placeHold(deps, scene.order({ requestId: 'other' })))).toBe('service_unavailable');
    expect(await scene.clock.until(probe)).toMatchObject({ holdId: 'probe.0' });
    expect(await placeHold(deps, scene.order({ requestId: 'next' }))).toMatchObject({ holdId: 'next.0' });
  });

  test('BILL-14 closes after any reply of the store, also a rejection', async () => {
    const { scene, deps } = await openBreaker();
    await scene.clock.advance(5_000);
    expect(await codeOf(placeHold(deps, scene.order({ requestId: 'poor', amountPicos: 10_000n })))).toBe(
      'insufficient_balance',
    );
    expect(await placeHold(deps, scene.order({ requestId: 'next' }))).toMatchObject({ holdId: 'next.0' });
  });

  test('BILL-14 never rejects a commit or a sweep', async () => {
    const { scene, deps } = await openBreaker();
    const { holdId } = await placeHold(scene.another({}), scene.order());
    expect(await commit(deps, settledRecord(holdId, 70n, 0))).toMatchObject({ outcome: 'settled' });
    await scene.clock.advance(300_000);
    await scene.clock.until(sweep(deps));
    expect(scene.account()).toMatchObject({ spentPicos: 70n, holds: new Map() });
    expect(scene.memory.recordsOf(ID).some(({ outcome }) => outcome === 'settled')).toBe(true);
  });
});

describe('2,000 holds of which a store loses 30 % of the replies', () => {
  const REQUESTS = 2_000;
  const TIMEOUT_MS = 1_000;
  const AMOUNT = 100n;

  /** Returns numbers from 0 up to 1, the same ones in each run. */
  const seeded = (seed: number) => {
    let state = seed;
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
  };

  const play = async () => {
    const scene = await ledgerScene(AMOUNT * BigInt(REQUESTS));
    const random = seeded(24);
    let writes = 0;
    const store = through(async (method, call) => {
      if (method !== 'hold') return call();
      writes += 1;
      if (random() >= 0.3) return call();
      // The write lands immediately, up to 14 s later, or never, and its client waits until its time limit.
      const landing = random();
      if (landing < 0.8) scene.clock.after(landing * 17_500 - 3_500, () => void call());
      await new Promise<void>((resolve) => scene.clock.after(TIMEOUT_MS, resolve));
      throw new StoreError('unavailable', 'no reply');
    }, scene.memory);
    const deps = { ...scene.deps, store, random, breaker: new HoldBreaker(scene.clock) };
    const rejectedAfterMs: number[] = [];
    let placed = 0;
    for (let number = 0; number < REQUESTS; number += 1) {
      const startedAtMs = scene.clock.now();
      const order = scene.order({ requestId: `q${number}`, storeTime: new StoreTime(scene.clock) });
      const held = await scene.clock.until(placeHold(deps, order)).catch(() => undefined);
      if (!held) {
        rejectedAfterMs.push(scene.clock.now() - startedAtMs);
        continue;
      }
      placed += 1;
      await apply(deps, await commit(deps, settledRecord(held.holdId, 1n, scene.clock.now())), held.amountPicos);
    }
    await scene.clock.advance(20_000);
    return { scene, writes, placed, rejectedAfterMs };
  };

  test('BILL-13, BILL-14 take at most 1.6 writes each, reject in time and leave no hold open', async () => {
    const { scene, writes, placed, rejectedAfterMs } = await play();
    expect(writes / placed).toBeLessThanOrEqual(1.6);
    expect(placed).toBeGreaterThan(REQUESTS * 0.9);
    expect(rejectedAfterMs.length).toBeGreaterThan(0);
    expect(Math.max(...rejectedAfterMs)).toBeLessThan(3_500);
    expect(scene.account()).toMatchObject({ spentPicos: BigInt(placed), holds: new Map() });
  });
});
