import { describe, expect, test } from 'vitest';
import { CircuitWorld, type WorldProcess } from './circuit-world.ts';

const open = (retryAfterSeconds: number) => ({ kind: 'open', retryAfterSeconds });

/** Makes calls in several processes in turns of at most three, so that no process opens its own circuit. */
const turns = async (processes: readonly WorldProcess[], series: string, accounts = 'ab'): Promise<void> => {
  for (const [index, part] of (series.match(/.{1,3}/g) ?? []).entries()) {
    await processes[index % processes.length]?.series(part, accounts);
  }
};
const crowd = (world: CircuitWorld, size = 4) => Array.from({ length: size }, () => world.start());

describe('shared opening', () => {
  test('FALL-1 ten calls of two accounts with five failures open all processes within 5 s', async () => {
    const world = new CircuitWorld();
    const bystander = world.start();
    expect(await bystander.call('succeeded', 'c')).toBeUndefined();
    const processes = crowd(world);
    await turns(processes, 'ssfssfsff');
    expect(world.state).toBeUndefined();
    await turns(processes.slice(3), 'f');
    expect(world.state).toEqual({
      openUntilMs: world.clock.now() + 30_000,
      openings: 1,
      goodProbes: 0,
      probe: undefined,
    });
    expect(processes.flatMap(({ notices }) => notices)).toEqual(['circuit_opened vendor/model']);
    expect((await processes[3]?.enter('c'))?.kind).toBe('open');
    // This process learns of the opening only from its next look-up, which is not due yet.
    expect((await bystander.enter('c')).kind).toBe('permit');
    await world.clock.advance(5_001);
    expect(await bystander.enter('c')).toEqual(open(25));
    expect(await world.start().enter('d')).toEqual(open(25));
  });

  test.each([
    ['nine calls', 'ssfsfffff', 'ab', { failures: 6, successes: 3 }],
    ['failures in less than half of the calls', 'ssfssfsffsf', 'ab', { failures: 5, successes: 6 }],
    ['failures of one account', 'fffssffffssffff', 'a', { failures: 11, successes: 4 }],
  ])('FALL-1 %s do not open the circuit for all', async (_name, series, accounts, seen) => {
    const world = new CircuitWorld();
    await turns(crowd(world, 5), series, accounts);
    expect(world.store.bucketOf(world.key, world.clock.now())).toMatchObject(seen);
    expect(world.state).toBeUndefined();
  });

  test('FALL-1 failures of the current and the previous bucket count, and older ones do not', async () => {
    const world = new CircuitWorld();
    await turns(crowd(world), 'fffffffff');
    await world.clock.advance(30_000);
    await turns(crowd(world), 'fff');
    expect(world.state).toBeUndefined();
    await world.clock.advance(15_000);
    await turns(crowd(world), 'ffffff');
    expect(world.state).toBeUndefined();
    await turns(crowd(world), 'f');
    expect(world.state).toBeDefined();
  });

  test('FALL-1 the store gets at most two accounts, each as a hash', async () => {
    const world = new CircuitWorld();
    await turns(crowd(world, 6), 'fffsssfffsssfffsss', 'abcdefgh');
    const { accounts } = world.store.bucketOf(world.key, world.clock.now());
    expect(accounts).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^[0-9a-f]{16}$/)]);
  });

  test('FALL-1 calls in progress when the circuit opened are not counted', async () => {
    const world = new CircuitWorld();
    const late = world.start();
    const early = await late.enter('c');
    await world.openForAll();
    const counted = world.store.bucketOf(world.key, world.clock.now());
    await world.clock.advance(6_000);
    if (early.kind === 'permit') await world.clock.until(early.report('failed'));
    expect(late.writes).toEqual([]);
    expect(world.store.bucketOf(world.key, counted.startMs)).toEqual(counted);
  });
});

test('FALL-1 a process drops its local opening once the circuit is open for all processes', async () => {
  const world = new CircuitWorld();
  const process = world.start();
  await process.series('fffff');
  await world.openForAll();
  await world.clock.advance(6_000);
  expect((await process.enter()).kind).toBe('open');
  await world.clock.advance(24_000);
  await world.start().series('sss');
  await world.clock.advance(5_001);
  const both = [await process.enter(), await process.enter()];
  expect(both.map(({ kind }) => kind)).toEqual(['permit', 'permit']);
});

describe('store calls', () => {
  test('FALL-1 a healthy model causes no write and at most one read per 5 s', async () => {
    const world = new CircuitWorld();
    const process = world.start();
    for (let second = 0; second < 60; second += 1) {
      await process.series('ssssssssss');
      await process.call('unknown');
      await world.clock.advance(1_000);
    }
    expect(process.writes).toEqual([]);
    expect(process.calls).toHaveLength(10);
  });

  test('FALL-1 after a failure, successes are written once per 5 s until the window has no failure', async () => {
    const world = new CircuitWorld();
    const [process, other] = [world.start(), world.start()];
    await other.call('failed');
    for (let second = 0; second < 20; second += 1) {
      await process.series('ssssssssss');
      await world.clock.advance(1_000);
    }
    const writes = process.writes.length;
    expect(writes).toBeGreaterThanOrEqual(3);
    expect(writes).toBeLessThanOrEqual(4);
    const [first, second] = [0, 15_000].map((ms) => world.store.bucketOf(world.key, Date.UTC(2026, 10, 1) + ms));
    expect((first?.successes ?? 0) + (second?.successes ?? 0)).toBeGreaterThan(100);
    await world.clock.advance(30_000);
    for (let second = 0; second < 20; second += 1) {
      await process.series('ssssssssss');
      await world.clock.advance(1_000);
    }
    expect(process.writes).toHaveLength(writes);
  });

  test('FALL-1 a failure is counted with the successes before it, so rare failures open no circuit', async () => {
    const world = new CircuitWorld();
    const processes = crowd(world, 10);
    for (const process of processes) await process.series('ssssssssssssssssssss');
    for (const process of processes) await process.series('f', 'ab');
    await processes[0]?.series('f', 'b');
    const { failures, successes } = world.store.bucketOf(world.key, world.clock.now());
    expect([failures, successes]).toEqual([11, 200]);
    expect(world.state).toBeUndefined();
  });

  test('FALL-1 successes older than 15 s are not counted with a failure', async () => {
    const world = new CircuitWorld();
    const process = world.start();
    const long = await process.enter();
    await process.series('ssss');
    await world.clock.advance(15_001);
    if (long.kind === 'permit') await world.clock.until(long.report('failed'));
    expect(world.store.bucketOf(world.key, Date.UTC(2026, 10, 1) + 15_000)).toMatchObject({
      failures: 1,
      successes: 0,
    });
  });

  test('FALL-1 concurrent failures are counted in one write', async () => {
    const world = new CircuitWorld();
    world.weather = 'slow';
    const process = world.start();
    const entered = await Promise.all(Array.from({ length: 50 }, (_, index) => process.enter(`a${index}`)));
    await Promise.all(
      entered.map((permit) => (permit.kind === 'permit' ? world.clock.until(permit.report('failed')) : undefined)),
    );
    await world.clock.advance(1_000);
    const { failures, accounts } = world.store.bucketOf(world.key, Date.UTC(2026, 10, 1));
    expect(failures).toBe(50);
    expect(accounts.length).toBeLessThanOrEqual(3);
    expect(process.writes.length).toBeLessThanOrEqual(3);
  });

  test('FALL-1 `peek` starts one look-up per 5 s and returns the known state meanwhile', async () => {
    const world = new CircuitWorld();
    const process = world.start();
    const look = () => process.circuits.peek(world.key, 'a');
    expect([look(), look(), look()]).toEqual([undefined, undefined, undefined]);
    expect(process.calls).toEqual(['read']);
    await world.clock.advance(5_000);
    await world.openForAll();
    expect(look()).toBeUndefined();
    expect(process.calls).toEqual(['read']);
    await world.clock.advance(1);
    expect(look()).toBeUndefined();
    expect(process.calls).toEqual(['read', 'read']);
    await world.clock.flush();
    expect(look()).toEqual(open(30));
  });

  test('FALL-1 above 1000 models the least recently called one is forgotten', async () => {
    const world = new CircuitWorld();
    const process = world.start();
    for (let index = 0; index < 1_001; index += 1) {
      await process.call('succeeded', 'a', { providerId: 'vendor', modelId: `m${index}` });
    }
    const reads = process.calls.length;
    await process.call('succeeded', 'a', { providerId: 'vendor', modelId: 'm1000' });
    expect(process.calls).toHaveLength(reads);
    await process.call('succeeded', 'a', { providerId: 'vendor', modelId: 'm0' });
    expect(process.calls).toHaveLength(reads + 1);
  });
});

describe('0.1% failures', () => {
  test.each([
    ['a few large processes', 3, 300],
    ['many small processes', 100, 10],
  ])('FALL-1 failures spread over %s never open a circuit', async (_name, size, perTick) => {
    const world = new CircuitWorld();
    const processes = crowd(world, size);
    let called = 0;
    const callOne = async ({ circuits }: WorldProcess): Promise<void> => {
      called += 1;
      const entered = await circuits.acquire(world.key, { accountId: `${called % 7}`, requestId: `${called}` });
      if (entered.kind !== 'permit') throw new Error(`rejected after ${called} calls`);
      // The first failure comes early, and every failure is of another account.
      await entered.report(called % 1_000 === perTick ? 'failed' : 'succeeded');
    };
    for (let tick = 0; tick < 60; tick += 1) {
      for (const process of processes) for (let call = 0; call < perTick; call += 1) await callOne(process);
      await world.clock.advance(1_000);
    }
    expect(world.state).toBeUndefined();
    expect(processes.flatMap(({ notices }) => notices)).toEqual([]);
  });
});
