import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Ending,
  isSameCreation,
  type VideoFailure,
  type VideoJob,
  type VideoParamsRecord,
} from '../../lambdas/core/videos/video-job.ts';
import { CREATED_AT, DUE_AT, type JobSubject, jobSubjects, orderOf } from './video-subjects.ts';

const failure: VideoFailure = { code: 'upstream_error', message: 'ünï "quoted" \n \u{1f600}' };
const another: VideoFailure = { code: 'upstream_timeout', message: 'too late' };
const file = { name: 'one', bytes: 3_000_000_000, sha256: 'a'.repeat(64) };
const otherFile = { name: 'other', bytes: 1, sha256: 'b'.repeat(64) };
const completed: Ending = { state: 'completed', completedAtMs: CREATED_AT + 90_000 };
const failed: Ending = { state: 'failed', failure };

const begun = { state: 'queued', progress: 0, refused: false } as const;

describe.each(jobSubjects)('the video job store $name', ({ open }) => {
  let subject: JobSubject;
  let order: Required<VideoParamsRecord>;
  beforeAll(async () => {
    subject = await open();
  });
  beforeEach(() => {
    order = orderOf();
  });

  const store = () => subject.store;
  const id = () => order.id;
  const create = () => store().create(order, DUE_AT);
  const present = async (): Promise<VideoJob> => {
    const job = await store().read(id());
    if (!job) throw new Error('no job');
    return job;
  };
  /** Repeats a call, as after a lost result: it returns the same and changes nothing more. */
  const twice = async <T>(call: () => Promise<T>): Promise<T> => {
    const reply = await call();
    const job = await store().read(id());
    expect(await call()).toEqual(reply);
    expect(await store().read(id())).toEqual(job);
    return reply;
  };
  /** Expects that the store rejects every change that only an unfinished job accepts. */
  const expectEnded = async (): Promise<void> => {
    const job = await store().read(id());
    expect(await store().advance(id(), 99)).toBe(false);
    expect(await store().noteFailure(id(), another)).toBe(false);
    expect(await store().noteFile(id(), otherFile, 7)).toBe(false);
    expect(await store().postpone(id(), DUE_AT)).toBe(false);
    expect(await store().setUpstream(id(), 'too-late')).toBe(false);
    expect(await store().read(id())).toEqual(job);
  };

  test('VID-3 a job is created once, with all its parameters', async () => {
    expect(await store().read(id())).toBeUndefined();
    expect(await create()).toEqual({ kind: 'created' });
    expect(await present()).toEqual({ ...order, ...begun });
    expect(await create()).toEqual({ kind: 'exists', job: { ...order, ...begun } });
    expect(await store().create({ ...order, holdId: 'another', prompt: 'x' }, 0)).toMatchObject({
      job: { holdId: order.holdId },
    });
    expect(await present()).toEqual({ ...order, ...begun });
  });

  test('VID-1 a job without a webhook, priced by seconds, with a long prompt is kept unchanged', async () => {
    order = orderOf({ prompt: '\u{1f600}'.repeat(16_000), terms: { unit: 'second', ratePicos: 0n, unitsMax: 12 } });
    const { webhook: _, ...plain } = order;
    await store().create(plain, DUE_AT);
    const job = await present();
    expect(job).toEqual({ ...plain, ...begun });
    expect('webhook' in job).toBe(false);
  });

  test('VID-1 a repeated creation finds its own record, and a creation with another field does not', async () => {
    const { webhook: _, ...plain } = orderOf();
    for (const own of [order, plain]) {
      await store().create(own, DUE_AT);
      const reply = await store().create(own, DUE_AT);
      expect(reply.kind === 'exists' && isSameCreation(reply.job, own)).toBe(true);
    }
    const others = Object.keys(order).map((name) => ({ ...order, [name]: 'another' }));
    const job = await present();
    expect(others.filter((other) => isSameCreation(job, other))).toEqual([]);
  });

  test('VID-3 only a queued job gets a provider id, and only one', async () => {
    expect(await store().setUpstream(id(), 'up-1')).toBe(false);
    await create();
    expect(await twice(() => store().setUpstream(id(), 'up-1'))).toBe(true);
    expect(await store().setUpstream(id(), 'up-2')).toBe(false);
    // The first result was lost, and the job continued meanwhile.
    await store().advance(id(), 10);
    expect(await store().setUpstream(id(), 'up-1')).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, state: 'in_progress', progress: 10, upstreamId: 'up-1' });
  });

  test('VID-9 the credential of the job is stored with the id of the provider, and the first one counts', async () => {
    await create();
    expect(await twice(() => store().setUpstream(id(), 'up-1', 'credential-1'))).toBe(true);
    expect(await store().setUpstream(id(), 'up-2', 'credential-2')).toBe(false);
    expect(await present()).toMatchObject({ upstreamId: 'up-1', credentialId: 'credential-1' });
  });

  test('VID-3 a job that advanced without an id gets none later', async () => {
    await create();
    await store().advance(id(), undefined);
    expect(await store().setUpstream(id(), 'up-1')).toBe(false);
    expect((await present()).upstreamId).toBeUndefined();
  });

  test('VID-3 progress never falls, even after late reports', async () => {
    expect(await store().advance(id(), 1)).toBe(false);
    await create();
    expect(await twice(() => store().advance(id(), undefined))).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, state: 'in_progress' });
    for (const [asked, shown] of [
      [40, 40],
      [39, 40],
      [undefined, 40],
      [40.5, 40.5],
      [0, 40.5],
      [100, 100],
    ] as const) {
      expect(await twice(() => store().advance(id(), asked))).toBe(true);
      expect(await present()).toMatchObject({ state: 'in_progress', progress: shown });
    }
  });

  test('VID-3 a negative progress report moves a queued job to in_progress with progress 0', async () => {
    await create();
    expect(await store().advance(id(), -1)).toBe(true);
    expect(await present()).toMatchObject({ state: 'in_progress', progress: 0 });
  });

  test('VID-3 the first of several failures is kept', async () => {
    expect(await store().noteFailure(id(), failure)).toBe(false);
    await create();
    expect(await twice(() => store().noteFailure(id(), failure))).toBe(true);
    expect(await twice(() => store().noteFailure(id(), another))).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, failure });
  });

  test('VID-5 the first file and its tokens are kept', async () => {
    expect(await store().noteFile(id(), file, 1)).toBe(false);
    await create();
    expect(await twice(() => store().noteFile(id(), otherFile, 10_000))).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, file: otherFile, tokens: 10_000 });
    expect(await twice(() => store().noteFile(id(), file, undefined))).toBe(false);
    expect(await present()).toEqual({ ...order, ...begun, file: otherFile, tokens: 10_000 });
  });

  test('VID-6 a file whose tokens are unknown is recorded without a token count', async () => {
    await create();
    expect(await twice(() => store().noteFile(id(), file, undefined))).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, file });
    expect((await present()).tokens).toBeUndefined();
  });

  test('VID-7 the deliveries of an ended job are recorded, and their number never falls', async () => {
    const first = { attempts: 1, lastAtMs: CREATED_AT + 91_000, problem: 'too late', nextAtMs: CREATED_AT + 101_000 };
    const second = { attempts: 2, lastAtMs: CREATED_AT + 101_000, status: 204 };
    expect(await store().noteDelivery(id(), first)).toBe(false);
    await create();
    expect(await store().noteDelivery(id(), first)).toBe(false);
    await store().end(id(), completed);
    expect(await twice(() => store().noteDelivery(id(), first))).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, ...completed, delivery: first });
    expect(await twice(() => store().noteDelivery(id(), second))).toBe(true);
    expect(await store().noteDelivery(id(), first)).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, ...completed, delivery: second });
    await store().remove(id());
    expect(await store().noteDelivery(id(), { ...second, attempts: 3 })).toBe(false);
  });

  test('VID-3 a completed job stays completed', async () => {
    expect(await store().end(id(), completed)).toBe(false);
    await create();
    await store().setUpstream(id(), 'up-1');
    await store().advance(id(), 60);
    await store().noteFile(id(), file, 108_900);
    expect(await twice(() => store().end(id(), completed))).toBe(true);
    const job = await present();
    const { completedAtMs } = completed;
    expect(job).toMatchObject({ state: 'completed', completedAtMs, upstreamId: 'up-1', file, tokens: 108_900 });
    expect(await store().end(id(), { ...completed, completedAtMs: completedAtMs + 1 })).toBe(true);
    expect(await store().end(id(), failed)).toBe(false);
    expect(await store().refuse(id(), failure)).toBe(false);
    expect(await store().setUpstream(id(), 'up-1')).toBe(true);
    await expectEnded();
    expect(await present()).toEqual(job);
  });

  test('VID-3 a failed job stays failed, with its first failure', async () => {
    await create();
    expect(await twice(() => store().end(id(), failed))).toBe(true);
    expect(await store().end(id(), { state: 'failed', failure: another })).toBe(true);
    expect(await store().end(id(), completed)).toBe(false);
    expect(await store().refuse(id(), another)).toBe(false);
    expect(await present()).toEqual({ ...order, ...begun, state: 'failed', failure });
    await expectEnded();
  });

  test('BILL-2 a refused creation leaves a failed job', async () => {
    expect(await store().refuse(id(), failure)).toBe(false);
    await create();
    expect(await twice(() => store().refuse(id(), failure))).toBe(true);
    expect(await store().refuse(id(), another)).toBe(true);
    expect(await present()).toEqual({ ...order, ...begun, state: 'failed', refused: true, failure });
    expect(await store().end(id(), failed)).toBe(true);
    expect(await store().end(id(), completed)).toBe(false);
    await expectEnded();
  });

  test('BILL-2 a job that started at the provider or advanced cannot be refused', async () => {
    await create();
    await store().setUpstream(id(), 'up-1');
    expect(await store().refuse(id(), failure)).toBe(false);
    expect(await present()).toEqual({ ...order, ...begun, upstreamId: 'up-1' });
    order = orderOf();
    await create();
    await store().advance(id(), undefined);
    expect(await store().refuse(id(), failure)).toBe(false);
    expect((await present()).refused).toBe(false);
  });

  test('IDEM-8 an abandoned job is never created or changed', async () => {
    expect(await twice(() => store().abandon(id()))).toEqual({ kind: 'abandoned' });
    expect(await twice(create)).toEqual({ kind: 'closed' });
    expect(await store().read(id())).toBeUndefined();
    await expectEnded();
    expect(await store().refuse(id(), failure)).toBe(false);
    expect(await store().end(id(), failed)).toBe(false);
    expect(await store().end(id(), completed)).toBe(false);
    expect(await store().remove(id())).toBe(false);
    expect(await store().abandon(id())).toEqual({ kind: 'abandoned' });
  });

  test('IDEM-8 a created job is not abandoned but returned, even if it was refused', async () => {
    await create();
    expect(await twice(() => store().abandon(id()))).toEqual({ kind: 'exists', job: { ...order, ...begun } });
    await store().refuse(id(), failure);
    expect(await store().abandon(id())).toEqual({ kind: 'exists', job: await present() });
  });
});
