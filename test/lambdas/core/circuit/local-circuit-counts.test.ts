import { expect, test } from 'vitest';
import { CircuitWorld } from './circuit-world.ts';

/** A process without a working store, which counts only its own calls. */
const alone = () => {
  const world = new CircuitWorld();
  world.weather = 'down';
  return { clock: world.clock, process: world.start() };
};
const opened = async () => {
  const scene = alone();
  await scene.process.series('fffff');
  return scene;
};
const open = (retryAfterSeconds: number) => ({ kind: 'open', retryAfterSeconds });

test('FALL-1 five failures in a row of two accounts disable the model in this process for 30 s', async () => {
  const { process, clock } = await opened();
  expect(process.notices).toEqual(['circuit_opened vendor/model']);
  expect(await process.enter('c')).toEqual(open(30));
  await clock.advance(29_999);
  expect(await process.enter('c')).toEqual(open(1));
  await clock.advance(1);
  expect(await process.enter('c')).toMatchObject({ kind: 'permit' });
});

test('FALL-1 four failures do not open the circuit, and any success resets the count', async () => {
  const { process } = alone();
  await process.series('ffffsffffs');
  await process.series('ffff', 'c');
  expect(await process.call('succeeded', 'd')).toBeUndefined();
  await process.series('ffff');
  expect(process.circuits.peek({ providerId: 'vendor', modelId: 'model' }, 'a')).toBeUndefined();
  await process.series('f');
  expect(await process.enter()).toEqual(open(30));
});

test('FALL-1 calls with an unknown outcome neither count as failures nor reset the count', async () => {
  const { process } = alone();
  await process.series('ffff');
  for (let index = 0; index < 10; index += 1) await process.call('unknown');
  expect(await process.call('failed')).toBeUndefined();
  expect(await process.enter('c')).toEqual(open(30));
});

test('FALL-1 failures of one account disable the model for that account only', async () => {
  const { process, clock } = alone();
  await process.series('fffff', 'a');
  expect(await process.enter('a')).toEqual(open(30));
  expect(process.notices).toEqual([]);
  for (const account of ['b', 'c']) expect(await process.call('succeeded', account)).toBeUndefined();
  await clock.advance(30_000);
  for (let index = 0; index < 3; index += 1) expect(await process.call('succeeded', 'a')).toBeUndefined();
  const two = [await process.enter('a'), await process.enter('a')];
  expect(two.map(({ kind }) => kind)).toEqual(['permit', 'permit']);
});

test('FALL-1 a failure of another model or provider does not count', async () => {
  const { process } = await opened();
  expect(await process.enter('a', { providerId: 'other', modelId: 'model' })).toMatchObject({ kind: 'permit' });
  expect(await process.enter('a', { providerId: 'vendor', modelId: 'other' })).toMatchObject({ kind: 'permit' });
});

test('FALL-1 a half-open circuit permits one call at a time and closes after the third success', async () => {
  const { process, clock } = await opened();
  await clock.advance(30_000);
  for (let index = 0; index < 3; index += 1) {
    const probe = await process.enter('c');
    if (probe.kind !== 'permit') throw new Error('no probe');
    expect(await process.enter('d')).toEqual(open(1));
    await probe.report('succeeded');
  }
  expect(process.notices).toEqual(['circuit_opened vendor/model', 'circuit_closed vendor/model']);
  const both = [await process.enter('c'), await process.enter('d')];
  expect(both.map(({ kind }) => kind)).toEqual(['permit', 'permit']);
  await process.series('ffff');
  expect(await process.enter()).toMatchObject({ kind: 'permit' });
});

test('ERR-2 failed probes reopen for 60, 120, 300 and 300 s and reset the count of good probes', async () => {
  const { process, clock } = await opened();
  await clock.advance(30_000);
  for (const seconds of [60, 120, 300, 300]) {
    await process.series('ss');
    await process.call('failed');
    expect(await process.enter()).toEqual(open(seconds));
    await clock.advance(seconds * 1_000 - 1);
    expect(await process.enter()).toEqual(open(1));
    await clock.advance(1);
  }
  await process.series('sss');
  await process.series('fffff');
  expect(await process.enter()).toEqual(open(30));
});

test('FALL-1 a probe with an unknown outcome permits the next probe and changes nothing else', async () => {
  const { process, clock } = await opened();
  await clock.advance(30_000);
  await process.series('ss');
  expect(await process.call('unknown')).toBeUndefined();
  const probe = await process.enter();
  expect(probe.kind).toBe('permit');
  expect(await process.enter()).toEqual(open(1));
});

test('FALL-1 a probe without a report expires after 20 minutes', async () => {
  const { process, clock } = await opened();
  await clock.advance(30_000);
  await process.enter();
  await clock.advance(1_199_999);
  expect(await process.enter()).toEqual(open(1));
  await clock.advance(1);
  expect((await process.enter()).kind).toBe('permit');
});

test('FALL-1 calls that began before the circuit opened do not change it', async () => {
  const { process, clock } = alone();
  const early = [];
  for (const account of 'cdcdcd') early.push(await process.enter(account));
  await process.series('fffff');
  for (const [index, permit] of early.entries()) {
    if (permit.kind === 'permit') await clock.until(permit.report(index < 5 ? 'failed' : 'succeeded'));
  }
  expect(process.notices).toEqual(['circuit_opened vendor/model']);
  expect(await process.enter()).toMatchObject({ kind: 'open' });
  await clock.advance(30_000);
  expect((await process.enter()).kind).toBe('permit');
});

test('FALL-1 only the first report of a call counts', async () => {
  const { process, clock } = alone();
  await process.series('ffff');
  const permit = await process.enter();
  if (permit.kind !== 'permit') throw new Error('barred');
  await permit.report('unknown');
  for (let index = 0; index < 5; index += 1) await clock.until(permit.report('failed'));
  expect((await process.enter()).kind).toBe('permit');
});

test('FALL-1 an opening of this process ends when the clock steps back by an hour', async () => {
  const { process, clock } = await opened();
  expect(await process.enter('c')).toEqual(open(30));
  clock.skip(-3_600_000);
  expect(await process.enter('c')).toMatchObject({ kind: 'permit' });
});
