import { expect, test } from 'vitest';
import { conflict, type Fault, fails, losesReply, throttled } from '../../../support/memory/faults.ts';
import { rowsOfTier } from '../../../tiers.ts';
import { type Got, imageWorld, PER_IMAGE } from './image-world.ts';

type World = Awaited<ReturnType<typeof imageWorld>>;

/** Delay, in ms, that is longer than the request and longer than any pause between two attempts. */
const LATE_MS = 20_000;
const SOON_MS = 30;

const faults: readonly (readonly [name: string, kind: string, make: (world: World) => Fault])[] = [
  ['fails', 'refused', () => fails],
  ['is throttled', 'refused', () => throttled],
  ['conflicts', 'refused', () => conflict],
  ['loses its reply', 'lost', () => losesReply],
  ['is slow', 'slow', (world) => ({ kind: 'delayed', until: world.after(SOON_MS) })],
  ['lands soon after a timeout', 'late', (world) => ({ kind: 'lands-late', until: world.after(SOON_MS) })],
  ['lands long after a timeout', 'late', (world) => ({ kind: 'lands-late', until: world.after(LATE_MS) })],
  ['is repeated soon', 'repeated', (world) => ({ kind: 'repeated', until: world.after(SOON_MS) })],
  ['is repeated late', 'repeated', (world) => ({ kind: 'repeated', until: world.after(LATE_MS) })],
];

const forms = ['without an idempotency key', 'with an idempotency key'] as const;
const send = (world: World, form: (typeof forms)[number], requestId: string): Promise<Got> =>
  form === 'without an idempotency key' ? world.send(requestId, { n: 2 }) : world.sendKeyed(requestId, { n: 2 });

/** Creates a world in which the store calls selected by `isHit` get the fault from `make`. */
const worldWith = async (isHit: (call: string, nth: number) => boolean, make: (world: World) => Fault) => {
  let made: World | undefined;
  const world = await imageWorld({
    fault: (call, nth) => (made && isHit(call, nth) ? make(made) : undefined),
  });
  made = world;
  return world;
};

/** Returns the store calls of a request without faults. */
const callsOf = async (form: (typeof forms)[number]): Promise<readonly string[]> => {
  const world = await imageWorld();
  expect(await send(world, form, 'r1')).toMatchObject({ status: 200 });
  return world.calls;
};

/**
 * Checks that only a success is charged, and that it has its images. Repeating the idempotency key returns the charged
 * response.
 */
const expectHonest = async (world: World, form: (typeof forms)[number], first: Got): Promise<void> => {
  if (form === 'with an idempotency key') {
    await world.clock.advance(LATE_MS * 4);
    const again = await send(world, form, 'r2');
    expect(again.status).toBe(200);
    expect(world.hasImages(again.body)).toBe(true);
    if (first.status === 200) expect(again).toEqual({ ...first, replayed: true });
    expect(await world.charges()).toMatchObject([{ amountPicos: 2n * PER_IMAGE }]);
    expect(world.wire.calls.length).toBeLessThanOrEqual(2);
    return;
  }
  const charges = await world.charges();
  expect(charges.length).toBe(first.status === 200 ? 1 : 0);
  if (first.status === 200) expect(world.hasImages(first.body)).toBe(true);
};

for (const form of forms) {
  test.each(rowsOfTier(faults, ([, kind]) => kind))(
    `BILL-14 a request ${form} succeeds once if one store call %s`,
    async (_name, kind, make) => {
      const calls = await callsOf(form);
      expect(calls).toContain('media.put');
      for (const [hit, call] of calls.entries()) {
        // A hold is sent once. The store's client never repeats it (LedgerStore).
        if (call === 'ledger.hold' && kind === 'repeated') continue;
        const world = await worldWith((_call, nth) => nth === hit, make);
        const first = await send(world, form, 'r1');
        expect([call, first.status]).toEqual([call, 200]);
        await expectHonest(world, form, first);
      }
    },
  );
}

const heldUp = { status: 503, body: 'service_unavailable', replayed: false };

test.for([
  ['ledger.hold', 503],
  ['media.put', 503],
  ['ledger.putRecord', 200],
  ['ledger.apply', 200],
] as const)('BILL-14 with %s down a request without an idempotency key gets %i', async ([down, status]) => {
  for (const fault of [fails, throttled, losesReply]) {
    const world = await worldWith(
      (call) => call === down,
      () => fault,
    );
    const first = await send(world, 'without an idempotency key', 'r1');
    if (status === 503) expect(first).toEqual(heldUp);
    else expect(first.status).toBe(200);
    if (down === 'ledger.hold') expect(world.wire.calls).toEqual([]);
    await expectHonest(world, 'without an idempotency key', first);
  }
});

test.for([
  ['claims.claim', 503],
  ['ledger.hold', 503],
  ['media.put', 503],
  ['claims.stageResponse', 503],
  ['claims.complete', 200],
  ['ledger.putRecord', 200],
  ['ledger.apply', 200],
] as const)(
  'BILL-14 while %s is down a request with an idempotency key gets %i, later its response',
  async ([down, status]) => {
    for (const fault of [fails, throttled, losesReply]) {
      let isDown = true;
      const world = await worldWith(
        (call) => isDown && call === down,
        () => fault,
      );
      const first = await send(world, 'with an idempotency key', 'r1');
      if (status === 503) expect(first).toEqual(heldUp);
      else expect(first.status).toBe(200);
      const isLost = down === 'claims.stageResponse';
      expect(world.money.filter(({ uncollected }) => uncollected)).toEqual(
        isLost ? [{ uncollected: 2n * PER_IMAGE }] : [],
      );
      isDown = false;
      await expectHonest(world, 'with an idempotency key', first);
    }
  },
);

test.each(forms)(
  'BILL-14 a request %s is 503 and uncharged if neither charge nor outbox entry is written',
  async (form) => {
    let isDown = true;
    const world = await worldWith(
      (call) => isDown && ['ledger.putRecord', 'outbox.put'].includes(call),
      () => fails,
    );
    expect(await send(world, form, 'r1')).toEqual(heldUp);
    isDown = false;
    expect(world.notices).toEqual(['commit_failed']);
    await expectHonest(world, form, heldUp);
  },
);
