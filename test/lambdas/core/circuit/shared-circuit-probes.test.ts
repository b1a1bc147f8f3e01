import { expect, test } from 'vitest';
import type { CallPermit } from '../../../../lambdas/core/circuit/circuit.ts';
import { CircuitWorld, type WorldProcess } from './circuit-world.ts';

const HOUR_MS = 3_600_000;

const open = (retryAfterSeconds: number) => ({ kind: 'open', retryAfterSeconds });

const halfOpen = async () => {
  const world = new CircuitWorld();
  await world.openForAll();
  await world.clock.advance(30_000);
  return { world, clock: world.clock, one: world.start(), other: world.start() };
};
const probe = async (process: WorldProcess): Promise<CallPermit> => {
  const entered = await process.enter();
  if (entered.kind !== 'permit') throw new Error('no probe');
  return entered;
};

test('FALL-1 one probe runs across all processes, and others may retry after its lease time', async () => {
  const { one, other, clock } = await halfOpen();
  await probe(one);
  expect(await other.enter()).toEqual(open(30));
  expect(await one.enter()).toEqual(open(30));
  await clock.advance(4_000);
  expect(await other.enter()).toEqual(open(26));
});

test('FALL-1 a long probe keeps its lease, and the lease of a dead process expires after 30 s', async () => {
  const { one, other, clock } = await halfOpen();
  await probe(one);
  for (let second = 0; second < 300; second += 7) {
    await clock.advance(7_000);
    expect(await other.enter()).toMatchObject({ kind: 'open' });
  }
  one.dead = true;
  await clock.advance(30_000);
  await probe(other);
});

test('FALL-1 the third good probe of any process closes the circuit for all and clears the store', async () => {
  const { world, one, other, clock } = await halfOpen();
  for (const process of [one, other]) {
    await (await probe(process)).report('succeeded');
    expect(world.state).toBeDefined();
    await clock.advance(5_001);
  }
  await (await probe(one)).report('succeeded');
  expect(world.state).toBeUndefined();
  expect([...one.notices, ...other.notices]).toEqual(['circuit_closed vendor/model']);
  const both = [await one.enter(), await one.enter()];
  expect(both.map(({ kind }) => kind)).toEqual(['permit', 'permit']);
  await clock.advance(5_001);
  expect((await other.enter()).kind).toBe('permit');
});

test('ERR-2 each failed probe reopens the circuit, for 60, 120, 300 and 300 s', async () => {
  const { world, one, other, clock } = await halfOpen();
  for (const seconds of [60, 120, 300, 300]) {
    await one.call('succeeded');
    await one.call('failed');
    expect(await one.enter()).toEqual(open(seconds));
    await clock.advance(5_001);
    expect(await other.enter()).toEqual(open(seconds - 5));
    expect(world.state).toMatchObject({ goodProbes: 0, probe: undefined });
    await clock.advance(seconds * 1_000 - 5_002);
    expect(await one.enter()).toEqual(open(1));
    await clock.advance(1);
  }
  expect(world.state).toMatchObject({ openings: 5 });
});

test('FALL-1 a probe with an unknown outcome releases its lease and changes nothing', async () => {
  const { world, one } = await halfOpen();
  await one.call('succeeded');
  const before = world.state;
  await one.call('unknown');
  expect(world.state).toEqual(before);
  expect((await one.enter()).kind).toBe('permit');
});

test('FALL-1 a probe that lost its lease changes nothing', async () => {
  const { world, one, other, clock } = await halfOpen();
  const lost = await probe(one);
  world.weather = 'down';
  await clock.advance(30_000);
  world.weather = 'fine';
  const second = await probe(other);
  await lost.report('failed');
  expect(world.state).toMatchObject({ openings: 1, probe: { owner: expect.stringMatching(/^r\d+\/\d+$/) } });
  await second.report('succeeded');
  expect(world.state).toMatchObject({ goodProbes: 1 });
});

test('FALL-1 a circuit that closed meanwhile permits a call without a lease', async () => {
  const { one, other, clock } = await halfOpen();
  await one.call('unknown');
  await other.series('sss');
  expect(one.circuits.peek({ providerId: 'vendor', modelId: 'model' }, 'a')).toBeUndefined();
  const both = [await one.enter(), await one.enter()];
  expect(both.map(({ kind }) => kind)).toEqual(['permit', 'permit']);
  expect(clock.waiting).toBe(0);
});

test('FALL-1 the lease of a probe without a report is renewed for at most 20 minutes', async () => {
  const { one, other, clock } = await halfOpen();
  await probe(one);
  await clock.advance(1_229_000);
  expect(await other.enter()).toMatchObject({ kind: 'open' });
  await clock.advance(1_000);
  await probe(other);
});

test('FALL-1 a reported probe leaves no timer behind', async () => {
  const { one, clock } = await halfOpen();
  const waiting = clock.waiting;
  await one.call('succeeded');
  expect(clock.waiting).toBe(waiting);
});

test('FALL-1 an opening that was stored while the clock was ahead ends with the correction', async () => {
  const world = new CircuitWorld();
  world.clock.skip(HOUR_MS);
  await world.openForAll();
  world.clock.skip(-HOUR_MS);
  const [one, other] = [world.start(), world.start()];
  const lastProbe = await probe(one);
  expect(await other.enter()).toEqual(open(30));
  await world.clock.until(lastProbe.report('succeeded'));
  await world.clock.advance(5_001);
  for (const process of [other, one]) await process.call('succeeded');
  expect(world.state).toBeUndefined();
});

test('FALL-1 a probe lease that was stored while the clock was ahead ends with the correction', async () => {
  const { world, other, one } = await halfOpen();
  world.clock.skip(HOUR_MS);
  await probe(one);
  one.dead = true;
  world.clock.skip(-HOUR_MS);
  await probe(other);
  expect(world.state?.probe?.leaseUntilMs).toBe(world.clock.now() + 30_000);
});

test('FALL-1 a known state is read again after the clock stepped back', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  await process.enter();
  world.clock.skip(-HOUR_MS);
  await process.enter();
  expect(process.calls.filter((method) => method === 'read')).toHaveLength(2);
});
