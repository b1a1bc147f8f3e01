import type { StoredFile, VideoFailure, VideoJob, VideoOrderRecord } from './video-job.ts';

export type CreateReply =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists'; readonly job: VideoJob }
  /** Somebody has made sure that there will be no such video, or it has been removed. */
  | { readonly kind: 'closed' };

export type AbandonReply =
  /** There is no such video and never will be. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'exists'; readonly job: VideoJob }
  /** There was one, and its owner removed it. */
  | { readonly kind: 'removed' };

export interface JobPosition {
  readonly id: string;
  readonly accountId: string;
  readonly createdAtMs: number;
}

export interface JobRange {
  readonly limit: number;
  /** Only what comes behind this one in the list. */
  readonly after?: JobPosition | undefined;
  readonly newestFirst: boolean;
}

export interface JobPage {
  readonly jobs: readonly VideoJob[];
  readonly more: boolean;
}

export type Ending =
  | { readonly state: 'completed'; readonly completedAtMs: number }
  | { readonly state: 'failed'; readonly failure: VideoFailure };

/**
 * Where videos are kept. Every method is one call, throws StoreError when it brought no definite answer, and is safe to repeat.
 * Those that answer a boolean say whether the job is now as asked for: false means that its state does not allow it.
 */
export interface VideoJobStore {
  /** Put if absent: the commit of a creation. `dueAtMs`: when somebody is to look whether it is still being worked on. */
  create(order: VideoOrderRecord, dueAtMs: number): Promise<CreateReply>;
  /** Put if absent, so that a creation that has not been committed never will. */
  abandon(id: string): Promise<AbandonReply>;
  /** A consistent read. Undefined also for what was abandoned or removed. */
  read(id: string): Promise<VideoJob | undefined>;
  /** Where it stands, or stood before it was removed, in its owner's list. A consistent read. */
  locate(id: string): Promise<JobPosition | undefined>;
  /** Only while queued and without another one. */
  setUpstream(id: string, upstreamId: string): Promise<boolean>;
  /** Only while queued and without an upstream id: the job fails, and no list shows it. */
  refuse(id: string, failure: VideoFailure): Promise<boolean>;
  /** From queued to in_progress; progress never falls. Only while not ended. */
  advance(id: string, progress: number | undefined): Promise<boolean>;
  /** Why it is about to fail: the first reason counts. Only while not ended. */
  noteFailure(id: string, failure: VideoFailure): Promise<boolean>;
  /** The file is in the bucket. Only while not ended, and the first one counts. */
  noteFile(id: string, file: StoredFile, tokens: number | undefined): Promise<boolean>;
  /** Only while not ended. */
  end(id: string, ending: Ending): Promise<boolean>;
  /** Of one account, without refused ones. May miss the very latest writes. */
  list(accountId: string, range: JobRange): Promise<JobPage>;
  /** Only when ended. Nothing of it is left but that the id was used, and where it stood. */
  remove(id: string): Promise<boolean>;
  /** Ids of jobs that have not ended and whose time to be looked at has come. */
  due(nowMs: number): Promise<readonly string[]>;
  /** Only while not ended. */
  postpone(id: string, dueAtMs: number): Promise<boolean>;
}
