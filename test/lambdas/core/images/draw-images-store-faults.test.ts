import { expect, test } from 'vitest';
import { conflict, type Fault, fails, losesReply, throttled } from '../../../support/memory/faults.ts';
import { rowsOfTier } from '../../../tiers.ts';
import { type Got, imageWorld, PER_IMAGE } from './image-world.ts';

type World = Awaited<ReturnType<typeof imageWorld>>;

/** Longer than any pause between two attempts, and beyond the request. */
const LATE_MS = 20_000;
const SOON_MS = 30;

const faults: readonly (readonly [name: string, kind: string, make: (world: World) => Fault])[] = [
  ['fails', 'refused', () => fails],
  ['throttled', 'refused', () => throttled],
  ['conflict', 'refused', () => conflict],
  ['loses its reply', 'lost', () => losesReply],
  ['is slow', 'slow', (world) => ({ kind: 'delayed', until: world.after(SOON_MS) })],
  ['lands soon after no answer', 'late', (world) => ({ kind: 'lands-late', until: world.after(SOON_MS) })],
  ['lands long after no answer', 'late', (world) => ({ kind: 'lands-late', until: world.after(LATE_MS) })],
  ['is repeated soon', 'repeated', (world) => ({ kind: 'repeated', until: world.after(SOON_MS) })],
  ['is repeated late', 'repeated', (world) => ({ kind: 'repeated', until: world.after(LATE_MS) })],
];

const forms = ['sent plainly', 'sent under a key'] as const;
const send = (world: World, form: (typeof forms)[number], requestId: string): Promise<Got> =>
  form === 'sent plainly' ? world.send(requestId, { n: 2 }) : world.sendKeyed(requestId, { n: 2 });

/** A world in which some calls go wrong. */
const worldWith = async (isHit: (call: string, nth: number) => boolean, make: (world: World) => Fault) => {
  let made: World | undefined;
  const world = await imageWorld({
    fault: (call, nth) => (made && isHit(call, nth) ? make(made) : undefined),
  });
  made = world;
  return world;
};

/** The stores called by a request with which nothing goes wrong. */
const callsOf = async (form: (typeof forms)[number]): Promise<readonly string[]> => {
  const world = await imageWorld();
  expect(await send(world, form, 'r1')).toMatchObject({ status: 200 });
  return world.calls;
};

/** A success is charged, with its images, and nothing else is; the key has the answer that was charged. */
const expectHonest = async (world: World, form: (typeof forms)[number], first: Got): Promise<void> => {
  if (form === 'sent under a key') {
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
    `BILL-14 one call of a request ${form} %s: it succeeds, once`,
    async (_name, kind, make) => {
      const calls = await callsOf(form);
      expect(calls).toContain('media.put');
      for (const [hit, call] of calls.entries()) {
        // A hold is sent once, and by the client of the store never again (LedgerStore).
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
] as const)('BILL-14 %s is down: %i to a request sent plainly', async ([down, status]) => {
  for (const fault of [fails, throttled, losesReply]) {
    const world = await worldWith(
      (call) => call === down,
      () => fault,
    );
    const first = await send(world, 'sent plainly', 'r1');
    if (status === 503) expect(first).toEqual(heldUp);
    else expect(first.status).toBe(200);
    if (down === 'ledger.hold') expect(world.wire.calls).toEqual([]);
    await expectHonest(world, 'sent plainly', first);
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
] as const)('BILL-14 %s is down for a while: %i under a key, and then its answer', async ([down, status]) => {
  for (const fault of [fails, throttled, losesReply]) {
    let isDown = true;
    const world = await worldWith(
      (call) => isDown && call === down,
      () => fault,
    );
    const first = await send(world, 'sent under a key', 'r1');
    if (status === 503) expect(first).toEqual(heldUp);
    else expect(first.status).toBe(200);
    const isLost = down === 'claims.stageResponse';
    expect(world.money.filter(({ uncollected }) => uncollected)).toEqual(
      isLost ? [{ uncollected: 2n * PER_IMAGE }] : [],
    );
    isDown = false;
    await expectHonest(world, 'sent under a key', first);
  }
});

test.each(forms)('BILL-14 neither the charge nor its note can be written: 503, uncharged, when %s', async (form) => {
  let isDown = true;
  const world = await worldWith(
    (call) => isDown && ['ledger.putRecord', 'outbox.put'].includes(call),
    () => fails,
  );
  expect(await send(world, form, 'r1')).toEqual(heldUp);
  isDown = false;
  expect(world.notices).toEqual(['commit_failed']);
  await expectHonest(world, form, heldUp);
});
