import { expect, test } from 'vitest';
import { CircuitWorld, type WorldProcess } from './circuit-world.ts';

const quarantined = { kind: 'quarantined' };
const missing = async (
  world: CircuitWorld,
  process: WorldProcess,
  times: number,
  accounts = ['a', 'b'],
): Promise<void> => {
  for (let index = 0; index < times; index += 1) {
    await world.clock.until(process.circuits.usageMissing('model', accounts[index % accounts.length] ?? ''));
  }
};

test('BILL-10 the 20th response without usage disables the model for 15 minutes in every process', async () => {
  const world = new CircuitWorld();
  const [one, other] = [world.start(), world.start()];
  await other.enter();
  await missing(world, one, 10);
  await missing(world, other, 9);
  expect((await one.enter()).kind).toBe('permit');
  await missing(world, one, 1);
  expect(one.circuits.peek(world.key, 'a')).toEqual(quarantined);
  expect(await one.enter('b', { ...world.key, providerId: 'other' })).toEqual(quarantined);
  expect((await one.enter('b', { ...world.key, modelId: 'another' })).kind).toBe('permit');
  await world.clock.advance(5_001);
  expect(await other.enter()).toEqual(quarantined);
  expect([...one.notices, ...other.notices]).toEqual(['model_quarantined model']);
  await world.clock.advance(900_000 - 5_001);
  expect((await other.enter()).kind).toBe('permit');
  expect((await one.enter()).kind).toBe('permit');
});

test('BILL-10 a model is disabled by 20 responses without usage in 4 minutes, not in over 5', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  for (let minute = 0; minute < 4; minute += 1) {
    await missing(world, process, 4);
    await world.clock.advance(60_000);
  }
  await missing(world, process, 3);
  expect((await process.enter()).kind).toBe('permit');
  await world.clock.advance(60_000);
  // The first four responses without usage are now outside the window.
  await missing(world, process, 4);
  expect((await process.enter()).kind).toBe('permit');
  await missing(world, process, 1);
  expect(await process.enter()).toEqual(quarantined);
});

test('BILL-10 responses of one account alone never disable a model for the others', async () => {
  const world = new CircuitWorld();
  const [one, other] = [world.start(), world.start()];
  await missing(world, one, 60, ['a']);
  await world.clock.advance(60_000);
  await missing(world, one, 20, ['a']);
  expect((await one.enter()).kind).toBe('permit');
  // The account of an earlier minute counts too.
  await missing(world, other, 1, ['b']);
  expect(await other.enter()).toEqual(quarantined);
});

test('BILL-10 deleting the item ends a quarantine within 5 s, until usage is missing again', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  await missing(world, process, 20);
  expect(await process.enter()).toEqual(quarantined);
  world.store.liftQuarantine('model');
  await world.clock.advance(5_001);
  expect((await process.enter()).kind).toBe('permit');
  await missing(world, process, 1);
  expect(await process.enter()).toEqual(quarantined);
});

test('BILL-10 a failing store quarantines nothing and delays a call by at most 200 ms', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  for (const weather of ['down', 'throttled', 'stuck'] as const) {
    world.weather = weather;
    const from = world.clock.now();
    await missing(world, process, 1);
    expect(world.clock.now() - from).toBe(weather === 'stuck' ? 200 : 0);
  }
  world.weather = 'down';
  await missing(world, process, 40);
  world.weather = 'fine';
  expect((await process.enter()).kind).toBe('permit');
});

test('BILL-10 a known quarantine lasts while the store is down', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  await missing(world, process, 20);
  world.weather = 'down';
  await world.clock.advance(899_999);
  expect(await process.enter()).toEqual(quarantined);
  await world.clock.advance(1);
  expect((await process.enter()).kind).toBe('permit');
});

test('BILL-10 a quarantine that was stored while the clock was ahead ends with the correction', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  world.clock.skip(3_600_000);
  await missing(world, process, 20);
  expect(await process.enter()).toEqual(quarantined);
  world.clock.skip(-3_600_000);
  expect((await process.enter()).kind).toBe('permit');
  expect((await world.start().enter()).kind).toBe('permit');
});

test('BILL-10 a quarantine of a clock that was ahead does not block the next one', async () => {
  const world = new CircuitWorld();
  const [before, after] = [world.start(), world.start()];
  world.clock.skip(3_600_000);
  await missing(world, before, 20);
  world.clock.skip(-3_600_000);
  await after.enter();
  await missing(world, after, 20);
  expect(await after.enter()).toEqual(quarantined);
  await world.clock.advance(5_001);
  expect(await before.enter()).toEqual(quarantined);
  expect([before.notices, after.notices]).toEqual([['model_quarantined model'], ['model_quarantined model']]);
  await world.clock.advance(900_000 - 5_001);
  expect([(await before.enter()).kind, (await after.enter()).kind]).toEqual(['permit', 'permit']);
});

test('BILL-10 a quarantine of a clock that was ahead does not start when its end is near', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  world.clock.skip(3_600_000);
  await missing(world, process, 20);
  world.clock.skip(-3_600_000);
  await process.enter();
  await world.clock.advance(3_600_000);
  await process.enter();
  await world.clock.flush();
  expect((await process.enter()).kind).toBe('permit');
});
