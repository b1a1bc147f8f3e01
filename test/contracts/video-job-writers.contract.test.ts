import { beforeAll, describe, expect, test } from 'vitest';
import type { VideoJob, VideoJobStore } from '../../lambdas/core/videos/video-job.ts';
import { rowsOfTier } from '../tiers.ts';
import { CREATED_AT, DUE_AT, type JobSubject, jobSubjects, orderOf } from './video-subjects.ts';

/** Each of two writers goes first once, and several times in the long tier. */
const rounds = rowsOfTier([0, 1, 2, 3, 4, 5], (round) => String(round % 2));

const failureOf = (message: string) => ({ code: 'upstream_error', message }) as const;
const file = { name: 'one', bytes: 5, sha256: 'a'.repeat(64) };
const completed = { state: 'completed', completedAtMs: CREATED_AT + 90_000 } as const;
const failed = { state: 'failed', failure: failureOf('ended') } as const;

type Writer = (store: VideoJobStore, id: string) => Promise<boolean>;

const setUpstream =
  (upstreamId: string): Writer =>
  (store, id) =>
    store.setUpstream(id, upstreamId);
const refuse: Writer = (store, id) => store.refuse(id, failureOf('refused'));
const complete: Writer = (store, id) => store.end(id, completed);
const fail: Writer = (store, id) => store.end(id, failed);

describe.each(jobSubjects)('two concurrent writers of one video $name', ({ open }) => {
  let subject: JobSubject;
  beforeAll(async () => {
    subject = await open();
  });

  const present = async (id: string): Promise<VideoJob> => {
    const job = await subject.store.read(id);
    if (!job) throw new Error('no job');
    return job;
  };
  /** Runs many rounds, each with its own job and with alternating order of the two writers. */
  const race = async (
    writers: readonly [Writer, Writer],
    judge: (done: readonly [boolean, boolean], job: VideoJob) => void,
  ): Promise<void> => {
    for (const round of rounds) {
      const order = orderOf();
      await subject.store.create(order, DUE_AT);
      const [first, second] = writers;
      const inOrder = round % 2 === 0 ? [first, second] : [second, first];
      const replies = await Promise.all(inOrder.map((writer) => writer(subject.store, order.id)));
      const [one, two] = round % 2 === 0 ? replies : replies.toReversed();
      judge([one === true, two === true], await present(order.id));
    }
  };

  test('VID-3 one of two provider ids is kept', () =>
    race([setUpstream('up-1'), setUpstream('up-2')], ([one, two], job) => {
      expect(one).toBe(!two);
      expect(job.upstreamId).toBe(one ? 'up-1' : 'up-2');
    }));

  test('BILL-2 a job has either started at the provider or is refused', () =>
    race([setUpstream('up-1'), refuse], ([set, refused], job) => {
      expect(set).toBe(!refused);
      expect([job.upstreamId, job.refused, job.state]).toEqual(
        set ? ['up-1', false, 'queued'] : [undefined, true, 'failed'],
      );
    }));

  test('VID-6 a job is either completed or failed', () =>
    race([complete, fail], ([done, broken], job) => {
      expect(done).toBe(!broken);
      expect(job.state).toBe(done ? 'completed' : 'failed');
      expect([job.completedAtMs, job.failure]).toEqual(
        done ? [completed.completedAtMs, undefined] : [undefined, failed.failure],
      );
    }));

  test.each<[string, Writer, (job: VideoJob) => boolean]>([
    ['an id of the provider', setUpstream('up-1'), (job) => job.upstreamId === 'up-1'],
    ['progress', (store, id) => store.advance(id, 50), (job) => job.progress === 50],
    ['a file', (store, id) => store.noteFile(id, file, 9), (job) => job.file !== undefined && job.tokens === 9],
  ])('VID-3 the completion of a job always succeeds, and %s is written only before it', (_what, writer, isThere) =>
    race([complete, writer], ([done, written], job) => {
      expect(done).toBe(true);
      expect(job).toMatchObject(completed);
      expect(isThere(job)).toBe(written);
    }),
  );

  test('VID-3 a failed job has the failure that ended it, whatever was noted before', () =>
    race([fail, (store, id) => store.noteFailure(id, failureOf('noted'))], ([done], job) => {
      expect(done).toBe(true);
      expect(job).toMatchObject(failed);
    }));

  test('VID-7 a job that ended is not postponed', () =>
    race([complete, (store, id) => store.postpone(id, DUE_AT + 1)], ([done], job) => {
      expect(done).toBe(true);
      expect(job.state).toBe('completed');
    }));

  test('VID-3 the higher of two progress reports counts, and both succeed', () =>
    race([(store, id) => store.advance(id, 40), (store, id) => store.advance(id, 60)], (done, job) => {
      expect(done).toEqual([true, true]);
      expect(job).toMatchObject({ state: 'in_progress', progress: 60 });
    }));

  test('VID-3 one of two failures is kept, and both writes succeed', () =>
    race(
      [(store, id) => store.noteFailure(id, failureOf('one')), (store, id) => store.noteFailure(id, failureOf('two'))],
      (done, job) => {
        expect(done).toEqual([true, true]);
        expect(['one', 'two']).toContain(job.failure?.message);
      },
    ));

  test('IDEM-8 an id is either created or abandoned', async () => {
    for (const round of rounds) {
      const order = orderOf();
      const create = () => subject.store.create(order, DUE_AT);
      const abandon = () => subject.store.abandon(order.id);
      const replies = await Promise.all(round % 2 === 0 ? [create(), abandon()] : [abandon(), create()]);
      const kinds = replies.map(({ kind }) => kind).sort();
      const job = await subject.store.read(order.id);
      expect(kinds).toEqual(job ? ['created', 'exists'] : ['abandoned', 'closed']);
    }
  });

  test('IDEM-8 one of two creations of an id counts, and the other gets its job', async () => {
    for (const _round of rounds) {
      const order = orderOf();
      const orders = ['first', 'second'].map((holdId) => ({ ...order, holdId }));
      const replies = await Promise.all(orders.map((each) => subject.store.create(each, DUE_AT)));
      expect(replies.map(({ kind }) => kind).sort()).toEqual(['created', 'exists']);
      const { holdId } = await present(order.id);
      expect(replies.find(({ kind }) => kind === 'exists')).toMatchObject({ job: { holdId } });
      expect(replies[holdId === 'first' ? 0 : 1]).toEqual({ kind: 'created' });
    }
  });

  test('VID-8 a video can be removed only after its end', async () => {
    for (const _round of rounds) {
      const { id } = orderOf();
      await subject.store.create({ ...orderOf(), id }, DUE_AT);
      const [done, removed] = await Promise.all([complete(subject.store, id), subject.store.remove(id)]);
      expect(done).toBe(true);
      expect((await subject.store.read(id))?.state).toBe(removed ? undefined : 'completed');
      const both = await Promise.all([subject.store.remove(id), subject.store.remove(id)]);
      expect(both).toEqual([true, true]);
      expect(await subject.store.read(id)).toBeUndefined();
    }
  });
});
