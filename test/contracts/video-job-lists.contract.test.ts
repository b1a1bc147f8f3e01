import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JobRange, VideoJob, VideoParamsRecord } from '../../lambdas/core/videos/video-job.ts';
import { CREATED_AT, DUE_AT, type JobSubject, jobSubjects, orderOf } from './video-subjects.ts';

const failure = { code: 'upstream_error', message: 'gone' } as const;

describe.each(jobSubjects)('the lists of videos $name', ({ open }) => {
  let subject: JobSubject;
  let accounts = 0;
  let accountId = '';
  beforeAll(async () => {
    subject = await open();
  });
  beforeEach(() => {
    accounts += 1;
    accountId = `lister-${accounts}`;
  });

  const made = async (createdAtMs: number, changes: Partial<VideoParamsRecord> = {}): Promise<string> => {
    const order = orderOf({ accountId, createdAtMs, ...changes });
    await subject.store.create(order, DUE_AT);
    return order.id;
  };
  const ids = (jobs: readonly VideoJob[]): readonly string[] => jobs.map(({ id }) => id);
  const list = (range: Partial<JobRange> = {}) =>
    subject.store.list(accountId, { limit: 100, newestFirst: true, ...range });
  /** Returns all pages, each after the last job of the previous one. */
  const pages = async (limit: number, newestFirst: boolean): Promise<readonly (readonly string[])[]> => {
    const found: (readonly string[])[] = [];
    let after: VideoJob | undefined;
    for (;;) {
      const { jobs, more } = await list({ limit, newestFirst, after });
      found.push(ids(jobs));
      after = jobs.at(-1);
      if (!more || !after) return found;
    }
  };
  const end = (id: string) => subject.store.end(id, { state: 'completed', completedAtMs: CREATED_AT + 1 });

  test("VID-8 an account's jobs are listed completely, in both orders and every state", async () => {
    const [one, two, three] = [await made(CREATED_AT), await made(CREATED_AT + 1), await made(CREATED_AT + 2)];
    await made(CREATED_AT + 1, { accountId: `other-${accountId}` });
    await subject.store.advance(one, 5);
    await end(two);
    await subject.store.end(three, { state: 'failed', failure });
    const newest = await list();
    expect(newest.more).toBe(false);
    expect(ids(newest.jobs)).toEqual([three, two, one]);
    expect(newest.jobs).toEqual(await Promise.all([three, two, one].map((id) => subject.store.read(id))));
    expect(ids((await list({ newestFirst: false })).jobs)).toEqual([one, two, three]);
  });

  test('VID-8 an account without videos has an empty list', async () => {
    expect(await list()).toEqual({ jobs: [], more: false });
  });

  test('VID-8 no list shows a refused, abandoned or removed job', async () => {
    const [refused, removed, kept] = [await made(CREATED_AT), await made(CREATED_AT), await made(CREATED_AT)];
    await subject.store.refuse(refused, failure);
    await end(removed);
    await subject.store.remove(removed);
    await subject.store.abandon(orderOf({ accountId }).id);
    const { jobs, more } = await list({ limit: 1 });
    expect(ids(jobs)).toEqual([kept]);
    expect(more).toBe(false);
  });

  test('VID-8 a page ends at its limit and says whether there is more', async () => {
    const made5 = [];
    for (let at = 0; at < 5; at += 1) made5.push(await made(CREATED_AT + at));
    expect(await pages(2, false)).toEqual([made5.slice(0, 2), made5.slice(2, 4), made5.slice(4)]);
    expect(await pages(2, true)).toEqual([[made5[4], made5[3]], [made5[2], made5[1]], [made5[0]]]);
    expect(await pages(5, true)).toEqual([made5.toReversed()]);
    expect((await list({ limit: 4 })).more).toBe(true);
  });

  test.each([1, 3])('VID-8 jobs of the same millisecond are listed once each, %i per page', async (limit) => {
    const all = new Set<string>();
    for (let at = 0; at < 9; at += 1) all.add(await made(CREATED_AT + Math.floor(at / 4)));
    for (const newestFirst of [true, false]) {
      const found = (await pages(limit, newestFirst)).flat();
      expect(found).toHaveLength(9);
      expect(new Set(found)).toEqual(all);
      const whole = await list({ newestFirst });
      expect(found).toEqual(ids(whole.jobs));
    }
  });

  test('VID-8 a page continues after a job that was removed meanwhile', async () => {
    const three = [await made(CREATED_AT), await made(CREATED_AT), await made(CREATED_AT)];
    const { jobs } = await list({ limit: 1 });
    const [first] = jobs;
    if (!first) throw new Error('no job');
    await end(first.id);
    await subject.store.remove(first.id);
    const rest = ids((await list({ after: first })).jobs);
    expect(new Set(rest)).toEqual(new Set(three.filter((id) => id !== first.id)));
    expect(rest).toHaveLength(2);
  });

  test('VID-8 a list larger than a megabyte is read in one call', async () => {
    const prompt = 'é'.repeat(150_000);
    const many = [];
    for (let at = 0; at < 6; at += 1) many.push(await made(CREATED_AT + at, { prompt }));
    const { jobs, more } = await list({ limit: 5 });
    expect(ids(jobs)).toEqual(many.slice(1).toReversed());
    expect(more).toBe(true);
    expect(jobs.every((job) => job.prompt === prompt)).toBe(true);
    expect((await list({ limit: 6 })).more).toBe(false);
    // One of these limits equals the number of jobs in the first megabyte.
    for (const limit of [2, 3, 4]) {
      const page = await list({ limit });
      expect([page.jobs.length, page.more]).toEqual([limit, true]);
    }
  });

  test('VID-7 a job is due from its time on, until it is postponed or ended', async () => {
    const dueAt = CREATED_AT - 1_000_000;
    const create = async (atMs: number): Promise<string> => {
      const order = orderOf({ accountId });
      await subject.store.create(order, atMs);
      return order.id;
    };
    const [first, second, late] = [await create(dueAt), await create(dueAt), await create(dueAt + 1)];
    const due = async (nowMs: number) => new Set(await subject.store.due(nowMs));
    expect(await due(dueAt - 1)).toEqual(new Set());
    expect(await due(dueAt)).toEqual(new Set([first, second]));
    expect(await due(dueAt + 1)).toEqual(new Set([first, second, late]));
    await subject.store.advance(late, 5);
    await subject.store.noteFailure(late, failure);
    expect(await subject.store.postpone(first, dueAt + 10)).toBe(true);
    expect(await subject.store.postpone(first, dueAt + 10)).toBe(true);
    expect(await due(dueAt + 9)).toEqual(new Set([second, late]));
    expect(await due(dueAt + 10)).toEqual(new Set([first, second, late]));
    await end(first);
    await subject.store.refuse(second, failure);
    await subject.store.end(late, { state: 'failed', failure });
    for (const id of [first, second, late]) expect(await subject.store.postpone(id, dueAt)).toBe(false);
    expect(await subject.store.postpone(orderOf().id, dueAt)).toBe(false);
    expect(await due(dueAt + 10)).toEqual(new Set());
    // This list does not depend on whether the owner sees the job.
    expect((await list()).jobs).toHaveLength(2);
  });

  test('VID-8 a removed job keeps only its position in the list', async () => {
    const order = orderOf({ accountId });
    expect(await subject.store.remove(order.id)).toBe(false);
    await subject.store.create(order, DUE_AT);
    expect(await subject.store.remove(order.id)).toBe(false);
    await subject.store.advance(order.id, 5);
    expect(await subject.store.remove(order.id)).toBe(false);
    await end(order.id);
    expect(await subject.store.remove(order.id)).toBe(true);
    expect(await subject.store.remove(order.id)).toBe(true);
    expect(await subject.store.read(order.id)).toBeUndefined();
    expect(await subject.store.create(order, DUE_AT)).toEqual({ kind: 'closed' });
    expect(await subject.store.abandon(order.id)).toEqual({ kind: 'removed' });
    expect(await end(order.id)).toBe(false);
    const { id, createdAtMs } = order;
    expect(await subject.store.locate(id)).toEqual({ id, accountId, createdAtMs });
    const position = [id, accountId, String(createdAtMs)];
    expect(new Set((await subject.valuesOf(id)) ?? position)).toEqual(new Set(position));
  });
});
