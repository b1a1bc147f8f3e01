import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { type MaintenanceState, maintenanceStates, toMaintenanceState } from '../../../../lambdas/core/maintenance.ts';
import { createMaintenanceSwitch } from '../../../../lambdas/functions/wiring/maintenance.ts';
import { createOutboxHandler } from '../../../../lambdas/functions/wiring/outbox-handler.ts';
import { createSweepHandler } from '../../../../lambdas/functions/wiring/sweep-handler.ts';
import { createResumeAll, createVideoSweepHandler } from '../../../../lambdas/functions/wiring/video-sweep-handler.ts';
import { created } from '../../../fixtures/byteplus/video-tasks.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryMaintenanceStore } from '../../../support/memory/memory-maintenance-store.ts';
import { createTendingScene, EXPIRY_MS } from './tending-scene.ts';
import { createVideoService } from './video-service.ts';

const createScene = () => {
  const clock = new ManualClock();
  const reads: PromiseWithResolvers<MaintenanceState>[] = [];
  const notices: unknown[] = [];
  const state = createMaintenanceSwitch({
    store: {
      read: () => {
        const read = Promise.withResolvers<MaintenanceState>();
        reads.push(read);
        return read.promise;
      },
    },
    clock,
    notice: (name, details) => notices.push([name, details]),
  });
  /** The state for a request, with this result of its read. */
  const readsAs = async (found: MaintenanceState) => {
    const asked = state();
    reads.at(-1)?.resolve(found);
    return asked;
  };
  return { clock, reads, notices, state, readsAs };
};

test('OPS-15 the first request of a process waits for the state of the switch', async () => {
  const { reads, readsAs } = createScene();
  expect(await readsAs('on')).toBe('on');
  expect(reads).toHaveLength(1);
});

test('OPS-15 under traffic a request waits for no read, and sees a change within 10 s', async () => {
  const { clock, reads, state, readsAs } = createScene();
  await readsAs('off');
  await clock.advance(4_999);
  expect([await state(), reads.length]).toEqual(['off', 1]);
  await clock.advance(1);
  expect([await state(), reads.length]).toEqual(['off', 2]);
  reads[1]?.resolve('on');
  await clock.advance(0);
  expect([await state(), reads.length]).toEqual(['on', 2]);
});

test('OPS-15 a process that was frozen does not use its old state', async () => {
  const { clock, readsAs } = createScene();
  await readsAs('off');
  await clock.advance(3_600_000);
  expect(await readsAs('on')).toBe('on');
  await clock.advance(3_600_000);
  expect(await readsAs('off')).toBe('off');
});

test('OPS-15 a request waits for a hung read for 500 ms, then uses the known state', async () => {
  const { clock, state, readsAs } = createScene();
  await readsAs('on');
  await clock.advance(11_000);
  const asked = state();
  await clock.advance(500);
  expect(await asked).toBe('on');
});

test('OPS-15 a failed read keeps the known state and is reported', async () => {
  const { clock, reads, notices, state, readsAs } = createScene();
  await readsAs('on');
  await clock.advance(11_000);
  const asked = state();
  reads[1]?.reject(new StoreError('unavailable', 'no reply'));
  expect(await asked).toBe('on');
  expect(notices).toEqual([['maintenance_unreadable', { reason: 'StoreError' }]]);
});

test('OPS-15 a switch that was never readable is off', async () => {
  const { reads, state } = createScene();
  const asked = state();
  reads[0]?.reject(new StoreError('unavailable', 'no reply'));
  expect(await asked).toBe('off');
});

test('OPS-11, OPS-15 a state of a newer release counts as paused', () => {
  expect(maintenanceStates.map(toMaintenanceState)).toEqual(maintenanceStates);
  expect([toMaintenanceState(undefined), toMaintenanceState('read-only')]).toEqual(['off', 'paused']);
});

const paused = async (): Promise<MemoryMaintenanceStore> => {
  const maintenance = new MemoryMaintenanceStore();
  await maintenance.write('paused');
  return maintenance;
};

test.each([
  ['sweep', createSweepHandler],
  ['outbox', createOutboxHandler],
] as const)('OPS-15 a paused %s moves no money and reports it', async (worker, createWorker) => {
  const { deps, clock, maintenance, notices, measured, enqueueSettlement, accounts } = await createTendingScene();
  await enqueueSettlement('one', 0);
  await clock.advance(EXPIRY_MS);
  const before = accounts();
  await maintenance.write('paused');
  await createWorker(deps)();
  expect([accounts(), notices, measured]).toEqual([before, [['worker_paused', { worker }]], []]);
  expect(await deps.outbox.list()).toEqual(['one.0']);
  await maintenance.write('on');
  await clock.until(createWorker(deps)());
  expect(accounts()).not.toEqual(before);
});

test('OPS-15 a worker that cannot read the switch does no work', async () => {
  const { deps, clock, accounts } = await createTendingScene();
  await clock.advance(EXPIRY_MS);
  const before = accounts();
  const read = async () => Promise.reject(new StoreError('unavailable', 'no reply'));
  const maintenance = { ...deps.maintenance, read };
  await expect(createSweepHandler({ ...deps, maintenance })()).rejects.toThrow('no reply');
  expect(accounts()).toEqual(before);
});

test('OPS-15 a paused video sweep starts and releases no video', async () => {
  const service = await createVideoService(() => created);
  const videoId = await service.create();
  service.stores.videoMachine.end(videoId);
  await service.clock.advance(180_000);
  const deps = { ...service.deps, maintenance: await paused() };
  await createVideoSweepHandler(deps)();
  expect(await createResumeAll(deps)()).toBeUndefined();
  expect(service.notices).toEqual(Array.from({ length: 2 }, () => ['worker_paused', { worker: 'videoSweep' }]));
  expect(await service.holds()).toBe(1);
});
