import { expect, test } from 'vitest';
import type { Outcome } from '../../../../lambdas/core/circuit/circuit.ts';
import { ProcessPauses } from '../../../../lambdas/core/process-pauses.ts';
import { CircuitWorld } from './circuit-world.ts';

const scene = () => {
  const world = new CircuitWorld();
  const { clock } = world;
  const pauses = new ProcessPauses({ now: () => clock.now(), monotonicMs: () => clock.now() });
  const process = world.start(world.store, { pauses });
  /** Makes calls that are in flight together, of six accounts in turn. */
  const calls = async (count: number, outcome: Outcome, meanwhile: () => void) => {
    const permits = [];
    for (let call = 0; call < count; call += 1) permits.push(await process.enter('abcdef'[call % 6]));
    meanwhile();
    for (const permit of permits) if (permit.kind === 'permit') await clock.until(permit.report(outcome));
  };
  return { world, clock, process, calls };
};

test.for(['failed', 'timed_out'] as const)(
  'FALL-1 calls in flight while the process was stopped do not count as %s',
  async (outcome) => {
    const { world, clock, process, calls } = scene();
    await calls(20, outcome, () => clock.skip(60_000));
    expect((await process.enter('z')).kind).toBe('permit');
    expect([world.state, process.writes]).toEqual([undefined, []]);
  },
);

test.for(['failed', 'timed_out'] as const)('FALL-1 calls after a stop of the process count as %s', async (outcome) => {
  const { clock, process, calls } = scene();
  clock.skip(60_000);
  await calls(20, outcome, () => undefined);
  expect((await process.enter('z')).kind).toBe('open');
});

test('FALL-1 a probe during a stop of the process counts only if it succeeds', async () => {
  const { world, clock, process, calls } = scene();
  await world.openForAll();
  await clock.advance(30_000);
  await calls(1, 'succeeded', () => clock.skip(20_000));
  expect(world.state).toMatchObject({ goodProbes: 1 });
  await calls(1, 'failed', () => clock.skip(20_000));
  expect(world.state).toMatchObject({ goodProbes: 1, openings: 1, probe: undefined });
  expect((await process.enter('z')).kind).toBe('permit');
});
