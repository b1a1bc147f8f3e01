import type {
  AbandonReply,
  CreateReply,
  Ending,
  JobPage,
  JobPosition,
  JobRange,
  VideoJobStore,
} from '../../../lambdas/core/videos/video-job.ts';
import {
  isEnded,
  type StoredFile,
  type VideoFailure,
  type VideoJob,
  type VideoParamsRecord,
} from '../../../lambdas/core/videos/video-job.ts';

import type { DeliveryState } from '../../../lambdas/core/webhook-delivery.ts';

/** A job, or the marker of an id whose job was abandoned or removed. */
type Row =
  | { readonly kind: 'job'; readonly job: VideoJob; readonly dueAtMs: number }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'removed'; readonly position: JobPosition };

/** Called for every write that changes a job. `before` or `after` is undefined if the job does not exist then. */
export type JobWatch = (id: string, before: VideoJob | undefined, after: VideoJob | undefined) => void;

/**
 * In-memory fake of the video jobs. Every method checks its condition and writes in one synchronous step, as in the
 * ledger's fake.
 */
export class MemoryVideoJobs implements VideoJobStore {
  readonly #rows = new Map<string, Row>();
  readonly #watch: JobWatch;

  constructor(watch: JobWatch = () => undefined) {
    this.#watch = watch;
  }

  async create(order: VideoParamsRecord, dueAtMs: number): Promise<CreateReply> {
    const present = this.#rows.get(order.id);
    if (present?.kind === 'job') return { kind: 'exists', job: structuredClone(present.job) };
    if (present) return { kind: 'closed' };
    this.#put(order.id, { kind: 'job', job: { ...order, state: 'queued', progress: 0, refused: false }, dueAtMs });
    return { kind: 'created' };
  }

  async abandon(id: string): Promise<AbandonReply> {
    const present = this.#rows.get(id);
    if (present?.kind === 'job') return { kind: 'exists', job: structuredClone(present.job) };
    if (present?.kind === 'removed') return { kind: 'removed' };
    this.#put(id, { kind: 'abandoned' });
    return { kind: 'abandoned' };
  }

  async read(id: string): Promise<VideoJob | undefined> {
    return this.jobOf(id);
  }

  async locate(id: string): Promise<JobPosition | undefined> {
    const present = this.#rows.get(id);
    if (present?.kind === 'removed') return present.position;
    const job = this.jobOf(id);
    return job && { id, accountId: job.accountId, createdAtMs: job.createdAtMs };
  }

  async setUpstream(id: string, upstreamId: string, credentialId?: string): Promise<boolean> {
    const job = this.jobOf(id);
    if (job?.upstreamId === upstreamId) return true;
    if (job?.state !== 'queued' || job.upstreamId !== undefined) return false;
    return this.#change(id, { upstreamId, ...(credentialId !== undefined && { credentialId }) });
  }

  async refuse(id: string, failure: VideoFailure): Promise<boolean> {
    const job = this.jobOf(id);
    if (job?.refused) return true;
    if (job?.state !== 'queued' || job.upstreamId !== undefined) return false;
    return this.#change(id, { state: 'failed', refused: true, failure });
  }

  async advance(id: string, progress: number | undefined): Promise<boolean> {
    const job = this.#running(id);
    if (!job) return false;
    return this.#change(id, { state: 'in_progress', progress: Math.max(job.progress, progress ?? 0) });
  }

  async noteFailure(id: string, failure: VideoFailure): Promise<boolean> {
    const job = this.#running(id);
    if (!job) return false;
    return this.#change(id, { failure: job.failure ?? failure });
  }

  async noteFile(id: string, file: StoredFile, tokens: number | undefined): Promise<boolean> {
    const job = this.jobOf(id);
    if (job?.file) return job.file.name === file.name;
    return this.#running(id) !== undefined && this.#change(id, { file, tokens });
  }

  async end(id: string, ending: Ending): Promise<boolean> {
    // The job already has this state, because of a repeat or of an equal ending by another caller.
    if (this.jobOf(id)?.state === ending.state) return true;
    return this.#running(id) !== undefined && this.#change(id, ending);
  }

  async noteDelivery(id: string, delivery: DeliveryState): Promise<boolean> {
    const job = this.jobOf(id);
    if (!job || !isEnded(job)) return false;
    return (job.delivery?.attempts ?? 0) >= delivery.attempts || this.#change(id, { delivery });
  }

  async list(accountId: string, { limit, after, newestFirst }: JobRange): Promise<JobPage> {
    const inOrder = this.jobs()
      .filter((job) => job.accountId === accountId && !job.refused)
      .toSorted((one, other) => (newestFirst ? compare(other, one) : compare(one, other)));
    const behind = inOrder.filter((job) => !after || (newestFirst ? compare(job, after) < 0 : compare(job, after) > 0));
    return { jobs: behind.slice(0, limit), more: behind.length > limit };
  }

  async remove(id: string): Promise<boolean> {
    const present = this.#rows.get(id);
    if (present?.kind === 'removed') return true;
    if (present?.kind !== 'job' || !isEnded(present.job)) return false;
    const { accountId, createdAtMs } = present.job;
    this.#put(id, { kind: 'removed', position: { id, accountId, createdAtMs } });
    return true;
  }

  async due(nowMs: number): Promise<readonly string[]> {
    return [...this.#rows.values()].flatMap((row) =>
      row.kind === 'job' && !isEnded(row.job) && row.dueAtMs <= nowMs ? [row.job.id] : [],
    );
  }

  async postpone(id: string, dueAtMs: number): Promise<boolean> {
    const job = this.#running(id);
    if (!job) return false;
    this.#rows.set(id, { kind: 'job', job, dueAtMs });
    return true;
  }

  jobOf(id: string): VideoJob | undefined {
    const row = this.#rows.get(id);
    return row?.kind === 'job' ? structuredClone(row.job) : undefined;
  }

  /** Returns all jobs in the order of their creation, including rejected ones. */
  jobs(): readonly VideoJob[] {
    return [...this.#rows.values()].flatMap((row) => (row.kind === 'job' ? [structuredClone(row.job)] : []));
  }

  /** Returns when the job is due, in Unix ms. Undefined if it has ended or does not exist. */
  dueAtOf(id: string): number | undefined {
    const row = this.#rows.get(id);
    return row?.kind === 'job' && !isEnded(row.job) ? row.dueAtMs : undefined;
  }

  #running(id: string): VideoJob | undefined {
    const job = this.jobOf(id);
    return job && !isEnded(job) ? job : undefined;
  }

  #change(id: string, change: Partial<VideoJob>): boolean {
    const row = this.#rows.get(id);
    if (row?.kind !== 'job') throw new Error(`there is no video ${id}`);
    this.#put(id, { ...row, job: { ...row.job, ...change } });
    return true;
  }

  #put(id: string, row: Row): void {
    const before = this.jobOf(id);
    this.#rows.set(id, structuredClone(row));
    this.#watch(id, before, this.jobOf(id));
  }
}

/** Orders by creation time, then by id. */
const compare = (
  one: Pick<JobPosition, 'id' | 'createdAtMs'>,
  other: Pick<JobPosition, 'id' | 'createdAtMs'>,
): number => {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
};
