import { existsSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DiskSpace } from '../../../local/stores/disk-space.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const MIB = 1024 * 1024;
const opened: DiskSpace[] = [];
let folder: string;
let clock: ManualClock;
/** Free space in MiB. Undefined if it cannot be measured. */
let free: number | undefined;
let quotaIsFull: boolean;
let writes: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'space-'));
  clock = new ManualClock();
  [free, quotaIsFull, writes] = [1_000, false, 0];
});
afterEach(async () => {
  for (const disk of opened.splice(0)) await disk.close();
});

const open = async (): Promise<DiskSpace> => {
  const statfs = async () => {
    if (free === undefined) throw new Error('EIO: injected');
    return { bsize: MIB, blocks: 1_000, bavail: free };
  };
  const file = async () => {
    writes += 1;
    if (quotaIsFull) throw Object.assign(new Error('EDQUOT: injected'), { code: 'EDQUOT' });
  };
  const disk = await DiskSpace.open({ folder, clock, statfs, sync: { file, folder: async () => undefined } });
  opened.push(disk);
  return disk;
};
const reserve = () => join(folder, 'reserve');

/** Advances to the next check of every process and waits until it has ended. */
const nextCheck = async (): Promise<void> => {
  const waiting = clock.waiting;
  await clock.advance(1_000);
  await expect.poll(() => clock.waiting, { interval: 2 }).toBe(waiting);
};

test('OPS-9 new holds are rejected below 64 MiB of free space and work again without a restart', async () => {
  const disk = await open();
  expect(statSync(reserve()).size).toBe(32 * MIB);
  for (const [megabytes, isLow] of [
    [64, false],
    [63, true],
    [64, false],
  ] as const) {
    free = megabytes;
    await nextCheck();
    expect(disk.isLow, `${megabytes} MB`).toBe(isLow);
    if (isLow) expect(() => disk.checkRoom()).toThrow(expect.objectContaining({ kind: 'conflict' }));
    else disk.checkRoom();
  }
});

test('OPS-9 a full disk frees the reserved space, which is created again at 96 MiB', async () => {
  const disk = await open();
  disk.checkReserve();
  expect(disk.onFull()).toBe(true);
  expect(() => disk.checkReserve()).toThrow(expect.objectContaining({ kind: 'conflict' }));
  expect(existsSync(reserve())).toBe(false);
  expect(disk.onFull(), 'the reserved space is freed once').toBe(false);
  expect(disk.isLow, 'before the next check').toBe(true);
  for (const [megabytes, exists] of [
    [95, false],
    [96, true],
  ] as const) {
    free = megabytes;
    await nextCheck();
    expect([existsSync(reserve()), disk.isLow], `${megabytes} MB`).toEqual([exists, !exists]);
  }
});

test('OPS-9 two processes share the reserved space', async () => {
  const [one, other] = await Promise.all([open(), open()]);
  expect([one.isLow, other.isLow]).toEqual([false, false]);
  expect(one.onFull()).toBe(true);
  expect(other.onFull(), 'the space is free for this process as well').toBe(true);
  free = 90;
  await nextCheck();
  expect([one.onFull(), other.onFull()], 'neither has reserved space').toEqual([false, false]);
  expect([one.isLow, other.isLow]).toEqual([true, true]);
});

test('OPS-9 reserved space that the disk rejects is tried again a minute later', async () => {
  quotaIsFull = true;
  const disk = await open();
  expect([writes, disk.isLow]).toEqual([1, true]);
  for (let check = 0; check < 60; check += 1) await nextCheck();
  expect([writes, disk.isLow]).toEqual([1, true]);
  quotaIsFull = false;
  await nextCheck();
  expect([writes, disk.isLow]).toEqual([2, false]);
});

test('a failed check keeps the last result until the next check', async () => {
  const disk = await open();
  free = undefined;
  await nextCheck();
  expect(disk.isLow).toBe(false);
  free = 10;
  await nextCheck();
  expect(disk.isLow).toBe(true);
});
