import { describe, expect, test } from 'vitest';
import { createCircuits } from '../../../../lambdas/core/circuit/breaker.ts';
import { circuitDefaults } from '../../../../lambdas/core/circuit/circuit.ts';
import { createMoment } from '../../../support/memory/faults.ts';
import { around, CircuitWorld, type WorldProcess } from './circuit-world.ts';

const open = (retryAfterSeconds: number) => ({ kind: 'open', retryAfterSeconds });
const knowsItIsOpen = async (world: CircuitWorld): Promise<WorldProcess> => {
  await world.openForAll();
  const process = world.start();
  expect(await process.enter()).toEqual(open(30));
  return process;
};
/** Milliseconds on the clock until the promise settled. */
const took = async (world: CircuitWorld, pending: Promise<unknown> | undefined): Promise<number> => {
  const from = world.clock.now();
  await world.clock.until(pending);
  return world.clock.now() - from;
};

test.each(['down', 'throttled', 'slow', 'stuck', 'lands-late', 'loses-reply'] as const)(
  'FALL-1 while the store is %s, a model is usable, and five failures disable it in this process',
  async (weather) => {
    const world = new CircuitWorld();
    world.weather = weather;
    const process = world.start();
    for (let index = 0; index < 20; index += 1) {
      expect(await process.call('succeeded')).toBeUndefined();
      await world.clock.advance(1_000);
    }
    await process.series('fffff');
    expect(await process.enter('c')).toMatchObject({ kind: 'open' });
  },
);

test.each(['down', 'throttled', 'stuck'] as const)(
  'FALL-1 while the store is %s, a model known to be open stays disabled, without a probe',
  async (weather) => {
    const world = new CircuitWorld();
    const process = await knowsItIsOpen(world);
    world.weather = weather;
    for (let minute = 0; minute < 10; minute += 1) {
      await world.clock.advance(60_000);
      expect(await process.enter()).toEqual(open(5));
    }
    world.weather = 'fine';
    await world.clock.advance(6_000);
    expect((await process.enter()).kind).toBe('permit');
  },
);

test.each(['loses-reply', 'lands-late', 'stuck'] as const)(
  'FALL-1 a lease whose reply came too late (%s) is released',
  async (weather) => {
    const world = new CircuitWorld();
    const process = await knowsItIsOpen(world);
    await world.clock.advance(30_000);
    world.weather = weather;
    expect(await process.enter()).toEqual(open(5));
    world.weather = 'fine';
    await world.clock.advance(weather === 'lands-late' ? 31_000 : 2_000);
    expect((await world.start().enter()).kind).toBe('permit');
  },
);

describe('waits', () => {
  test('FALL-1 a call waits at most 50 ms for a look-up, and a late result serves the next call', async () => {
    const world = new CircuitWorld();
    await world.openForAll();
    world.weather = 'slow';
    const process = world.start();
    const entering = process.circuits.acquire(world.key, { accountId: 'a', requestId: 'r' });
    expect(await took(world, entering)).toBe(50);
    expect((await entering).kind).toBe('permit');
    await world.clock.advance(200);
    expect(process.circuits.peek(world.key, 'a')).toEqual(open(30));
  });

  test('FALL-1 a report of a failure waits until it is counted, at most 200 ms', async () => {
    const world = new CircuitWorld();
    const process = world.start();
    const [first, second] = [await process.enter(), await process.enter()];
    if (first.kind !== 'permit' || second.kind !== 'permit') throw new Error('barred');
    world.weather = 'slow';
    const report = first.report('failed');
    await world.clock.advance(119);
    expect(world.store.bucketOf(world.key, Date.UTC(2026, 10, 1)).failures).toBe(0);
    await world.clock.until(report);
    expect(world.store.bucketOf(world.key, Date.UTC(2026, 10, 1)).failures).toBe(1);
    world.weather = 'stuck';
    expect(await took(world, second.report('failed'))).toBe(200);
  });

  test('FALL-1 a report of a success to a closed circuit does not wait', async () => {
    const world = new CircuitWorld();
    const process = world.start();
    const permit = await process.enter();
    world.weather = 'stuck';
    if (permit.kind === 'permit') expect(await took(world, permit.report('succeeded'))).toBe(0);
    expect(process.calls).toEqual(['read']);
  });

  test('FALL-1 a process does not call a failed store for one second', async () => {
    const world = new CircuitWorld();
    world.weather = 'down';
    const process = world.start();
    for (let index = 0; index < 10; index += 1) await process.call('succeeded');
    expect(process.calls).toEqual(['read']);
    await world.clock.advance(1_000);
    await process.call('succeeded');
    expect(process.calls).toEqual(['read', 'read']);
  });
});

test('FALL-1 a process keeps the known state of an item that a read omits', async () => {
  const world = new CircuitWorld();
  await world.openForAll();
  let leftOut = false;
  const store = {
    ...around(world.store, (_method, call) => call()),
    read: async (...given: Parameters<CircuitWorld['store']['read']>) => {
      const reading = await world.store.read(...given);
      const unknown = { known: false } as const;
      return leftOut ? { state: unknown, buckets: [], quarantinedUntilMs: unknown } : reading;
    },
  };
  const process = world.start(store);
  expect(await process.enter()).toEqual(open(30));
  leftOut = true;
  await world.clock.advance(6_000);
  expect(await process.enter()).toEqual(open(24));
  const fresh = world.start(store);
  expect((await fresh.enter()).kind).toBe('permit');
});

test('FALL-1 a read that began before a probe was judged does not overwrite the verdict', async () => {
  const world = new CircuitWorld();
  await world.openForAll();
  await world.clock.advance(30_000);
  const answered = createMoment();
  let isSlow = false;
  const process = world.start({
    ...around(world.store, (_method, call) => call()),
    read: async (...given) => {
      const reading = await world.store.read(...given);
      if (isSlow) await answered.until;
      return reading;
    },
  });
  const probe = await process.enter();
  if (probe.kind !== 'permit') throw new Error('no probe');
  await world.clock.advance(6_000);
  isSlow = true;
  process.circuits.peek(world.key, 'a');
  await world.clock.flush();
  await probe.report('failed');
  answered.come();
  await world.clock.flush();
  expect(process.circuits.peek(world.key, 'a')).toEqual(open(60));
});

test('FALL-1 no error of the store reaches the caller', async () => {
  const world = new CircuitWorld();
  const broken = around(world.store, () => Promise.reject(new TypeError('broken')));
  const circuits = createCircuits({ store: broken, clock: world.clock }, circuitDefaults);
  for (let index = 0; index < 12; index += 1) {
    const entered = await circuits.acquire(world.key, { accountId: `${index}`, requestId: 'r' });
    if (entered.kind === 'permit') await entered.report('failed');
    await circuits.usageMissing('model', 'a');
    circuits.peek(world.key, 'a');
  }
  expect(circuits.peek(world.key, 'a')).toEqual(open(30));
});
