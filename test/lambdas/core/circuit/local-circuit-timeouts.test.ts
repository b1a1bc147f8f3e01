import { expect, test } from 'vitest';
import { circuitDefaults } from '../../../../lambdas/core/circuit/circuit.ts';
import { CircuitWorld } from './circuit-world.ts';

const started = () => {
  const world = new CircuitWorld();
  return { world, clock: world.clock, process: world.start() };
};
const open = (retryAfterSeconds: number) => ({ kind: 'open', retryAfterSeconds });

/** Makes one call per letter, each of the account with that name, that times out. */
const timeOut = async ({ process }: ReturnType<typeof started>, accounts: string) => {
  for (const account of accounts) await process.call('timed_out', account);
};

test('FALL-1 any number of timeouts of two accounts opens the circuit for no other account', async () => {
  const scene = started();
  await timeOut(scene, 'abababababababababab');
  expect(await scene.process.call('unknown', 'c')).toBeUndefined();
  expect([scene.process.notices, scene.world.state]).toEqual([[], undefined]);
});

test('FALL-1 timeouts of five accounts without a success open the circuit for all', async () => {
  const scene = started();
  await timeOut(scene, 'aaabbcccd');
  expect(await scene.process.call('unknown', 'z')).toBeUndefined();
  await timeOut(scene, 'e');
  expect(scene.process.notices).toEqual(['circuit_opened vendor/model']);
  expect(await scene.process.enter('z')).toEqual(open(30));
});

test('FALL-1 five timeouts of an account open the circuit for it, between those of others', async () => {
  const scene = started();
  await timeOut(scene, 'ababababa');
  expect(await scene.process.enter('a')).toEqual(open(30));
  expect(await scene.process.enter('b')).toMatchObject({ kind: 'permit' });
});

test('FALL-1 a success of any account resets the count of timeouts', async () => {
  const scene = started();
  await timeOut(scene, 'aaaabbcd');
  await scene.process.call('succeeded', 'z');
  await timeOut(scene, 'aeee');
  expect(await scene.process.enter('a')).toMatchObject({ kind: 'permit' });
  expect(scene.process.notices).toEqual([]);
});

test('FALL-1 timeouts do not add to failures', async () => {
  const scene = started();
  await scene.process.series('ffff');
  await timeOut(scene, 'cd');
  expect(await scene.process.call('unknown', 'z')).toBeUndefined();
  await scene.process.series('f');
  expect(await scene.process.enter('z')).toEqual(open(30));
});

test('FALL-1 a probe for all accounts that times out permits the next one', async () => {
  const scene = started();
  await scene.process.series('fffff');
  await scene.clock.advance(30_000);
  expect(await scene.process.call('timed_out', 'c')).toBeUndefined();
  expect(await scene.process.enter('c')).toMatchObject({ kind: 'permit' });
});

test('FALL-1 a probe for one account that times out opens its circuit again', async () => {
  const scene = started();
  await timeOut(scene, 'aaaaa');
  await scene.clock.advance(30_000);
  await timeOut(scene, 'a');
  expect(await scene.process.enter('a')).toEqual(open(60));
});

test('FALL-1 a probe of the shared circuit that times out permits the next one', async () => {
  const { world, clock, process } = started();
  await world.openForAll();
  await clock.advance(30_000);
  expect(await process.call('timed_out', 'c')).toBeUndefined();
  expect(world.state).toMatchObject({ openings: 1, probe: undefined });
});

test('FALL-1 timeouts of two accounts open it for no other, also if one failure is enough', async () => {
  const world = new CircuitWorld();
  const process = world.start(world.store, { settings: { ...circuitDefaults, failures: 1 } });
  await process.call('timed_out', 'a');
  await process.call('timed_out', 'b');
  expect(await process.enter('a')).toEqual(open(30));
  expect(await process.enter('c')).toMatchObject({ kind: 'permit' });
});
