import { afterEach, beforeEach, expect, test } from 'vitest';
import type { VideoJobStore } from '../../../../lambdas/core/videos/video-job.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createVideoJobStore } from '../../../../local/stores/sqlite/video-job-store.ts';
import { DUE_AT, orderOf } from '../../../contracts/video-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

let db: Database;
let store: VideoJobStore;
beforeEach(async () => {
  db = await openTestDatabase();
  store = createVideoJobStore(db);
});
afterEach(() => db.close());

/** Stores a job whose JSON has one value replaced. */
const storeWith = async (path: string, value: unknown): Promise<string> => {
  const order = orderOf();
  await store.create(order, DUE_AT);
  await db.write(() =>
    db
      .sql('UPDATE videos SET job = json_set(job, ?, json(?)) WHERE id = ?')
      .run(`$.${path}`, JSON.stringify(value), order.id),
  );
  return order.id;
};

test.each([
  ['state', 'paused'],
  ['terms.unit', 'mile'],
  ['progress', 'half'],
  ['prompt', 5],
  ['holdAmountPicos', 12.5],
  ['holdAmountPicos', '1e3'],
])('ERR-5 a job with an unreadable %s names the video and the field', async (path, value) => {
  const id = await storeWith(path, value);
  const complaint = `${id}: the stored "job.${path}" is invalid`;
  const stored = () => db.read(() => db.sql('SELECT * FROM videos WHERE id = ?').get(id));
  const before = await stored();
  const failure = { code: 'upstream_error', message: 'gone' } as const;
  for (const call of [
    store.read(id),
    store.advance(id, 5),
    store.noteFailure(id, failure),
    store.end(id, { state: 'failed', failure }),
  ])
    await expect(call).rejects.toThrow(complaint);
  expect(await stored()).toEqual(before);
});

test.each([
  ['wire', 'smoke_signals'],
  ['extra', { odd: true }],
  ['terms.minimum', '5'],
])('OPS-11 a job with %s of a newer release is read, and changes keep it', async (path, value) => {
  const id = await storeWith(path, value);
  expect(await store.read(id)).toMatchObject({ id, state: 'queued' });
  await store.setUpstream(id, 'up-1');
  await store.advance(id, 5);
  await store.end(id, { state: 'completed', completedAtMs: 1 });
  const kept = await db.read(() => db.sql('SELECT job -> ? AS kept FROM videos WHERE id = ?').get(`$.${path}`, id));
  expect(kept?.kept).toBe(JSON.stringify(value));
  expect(await store.read(id)).toMatchObject({ state: 'completed', upstreamId: 'up-1', progress: 5 });
});

test('ERR-5 the error for a job that is not JSON names the video and quotes none of its text', async () => {
  const id = await storeWith('prompt', 'a secret');
  await db.write(() => db.sql('UPDATE videos SET job = substr(job, 2) WHERE id = ?').run(id));
  await expect(store.read(id)).rejects.toThrow(new Error(`${id}: the stored "job" is not JSON`));
});

test('VID-7 an unreadable job is still due, can be postponed and keeps its place', async () => {
  const id = await storeWith('progress', 'half');
  expect(await store.due(DUE_AT)).toEqual([id]);
  expect(await store.postpone(id, DUE_AT + 1)).toBe(true);
  expect(await store.due(DUE_AT)).toEqual([]);
  expect(await store.locate(id)).toMatchObject({ id, accountId: 'account-1' });
});

test('VID-3 an error code that a later version removed does not prevent a video from ending', async () => {
  const id = await storeWith('failure', { code: 'oops', message: 'm' });
  expect(await store.read(id)).toMatchObject({ failure: { code: 'internal_error', message: 'm' } });
});
