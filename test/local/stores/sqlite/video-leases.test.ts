import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createVideoJobStore } from '../../../../local/stores/sqlite/video-job-store.ts';
import { createVideoLeases, type VideoLeases } from '../../../../local/stores/sqlite/video-leases.ts';
import { DUE_AT, orderOf } from '../../../contracts/video-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

const LEASE_MS = 15_000;
let nowMs: number;
let db: Database;
let first: VideoLeases;
let second: VideoLeases;
let id: string;

beforeEach(async () => {
  nowMs = 1_000_000;
  db = await openTestDatabase();
  const clock = { now: () => nowMs };
  first = createVideoLeases(db, 'first', clock);
  second = createVideoLeases(db, 'second', clock);
  const order = orderOf();
  id = order.id;
  await createVideoJobStore(db).create(order, DUE_AT);
});
afterEach(() => db.close());

test('VID-7 only one of two processes runs a video, and it may take its own lease again', async () => {
  expect([await first.take(id), await second.take(id), await first.take(id)]).toEqual([true, false, true]);
  expect([await second.expired(), await second.take('video_unknown')]).toEqual([[], false]);
});

test('VID-7 a process that renews its leases keeps them, and others expire', async () => {
  await first.take(id);
  nowMs += LEASE_MS - 1;
  await first.renew();
  nowMs += LEASE_MS - 1;
  expect([await second.expired(), await second.take(id)]).toEqual([[], false]);
  nowMs += 1;
  expect(await second.expired()).toEqual([id]);
  expect(await second.take(id)).toBe(true);
  await first.renew();
  expect([await first.take(id), await first.expired()]).toEqual([false, []]);
});

test('VID-7 a process that stops leaves its videos to another one immediately', async () => {
  await first.take(id);
  await first.endAll();
  expect(await second.expired()).toEqual([id]);
  expect(await second.take(id)).toBe(true);
});

test('VID-7 no process takes over a video that has ended', async () => {
  await first.take(id);
  const jobs = createVideoJobStore(db);
  await jobs.end(id, { state: 'failed', failure: { code: 'upstream_error', message: 'm' } });
  nowMs += LEASE_MS;
  expect([await second.expired(), await second.take(id)]).toEqual([[], false]);
});

test('VID-7 a lease that a clock ahead has taken is over after the correction', async () => {
  nowMs += 3_600_000;
  await first.take(id);
  nowMs -= 3_600_000;
  expect(await second.expired()).toEqual([id]);
  expect(await second.take(id)).toBe(true);
  expect([await second.expired(), await first.take(id)]).toEqual([[], false]);
});
