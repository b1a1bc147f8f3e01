import type { Wire } from '../catalog/providers.ts';
import type { ErrorCode } from '../errors/error-codes.ts';

/** VID-3: only forward, and `completed` or `failed` for good. */
export type VideoState = 'queued' | 'in_progress' | 'completed' | 'failed';

/** Prices of a video at the time of its hold (BILL-3). */
export interface VideoTerms {
  readonly unit: 'token' | 'second';
  /** Pico-USD per unit. */
  readonly ratePicos: bigint;
  /** A count above this cannot be true (BILL-7). */
  readonly unitsMax: number;
}

export interface VideoFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** A finished file as it lies in the bucket. */
export interface StoredFile {
  /** Name of the object. Each attempt has its own object, so that a late one never replaces the charged file. */
  readonly name: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** Webhook of a client. */
export interface Webhook {
  readonly url: string;
  /** What deliveries are signed with. Never shown. */
  readonly secret: string;
}

/** Facts that are known when a video is requested, and that never change. */
export interface VideoParamsRecord {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly holdId: string;
  readonly holdAmountPicos: bigint;
  readonly modelId: string;
  readonly providerId: string;
  readonly wire: Wire;
  /** The vendor's own name of the model. */
  readonly upstreamModel: string;
  readonly prompt: string;
  /** Whole seconds. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly createdAtMs: number;
  readonly terms: VideoTerms;
  readonly webhook?: Webhook | undefined;
}

/** One video from its creation to its end: the record that commits the creation. */
export interface VideoJob extends VideoParamsRecord {
  readonly state: VideoState;
  /** From 0 to 100. */
  readonly progress: number;
  /** The vendor's name of the job. Without one nothing is ever charged. */
  readonly upstreamId?: string | undefined;
  /** The creation itself was refused: its client has an error, and no list shows it. */
  readonly refused: boolean;
  /** Why it failed, or is about to. */
  readonly failure?: VideoFailure | undefined;
  readonly file?: StoredFile | undefined;
  /** Tokens that the provider counted; undefined until the file is stored, or if it counts none. */
  readonly tokens?: number | undefined;
  readonly completedAtMs?: number | undefined;
}

/** VID-7. */
export const CONTENT_KEPT_MS = 24 * 60 * 60 * 1_000;

export const isEnded = ({ state }: VideoJob): boolean => state === 'completed' || state === 'failed';

/** Returns the id of the video of a request. A request creates at most one video. */
export const videoIdOf = (requestId: string): string => `video_${requestId}`;

const idForm = /^video_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isVideoId = (text: string): boolean => idForm.test(text);

export type CreateReply =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists'; readonly job: VideoJob }
  /** The video cannot be created any more, or it was removed. */
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
  /**
   * Commits a creation, if there is no record yet. `dueAtMs`: when the scheduled task checks whether the video is still
   * in progress.
   */
  create(order: VideoParamsRecord, dueAtMs: number): Promise<CreateReply>;
  /** Put if absent, so that a creation that has not been committed never will. */
  abandon(id: string): Promise<AbandonReply>;
  /** A consistent read. Undefined also for what was abandoned or removed. */
  read(id: string): Promise<VideoJob | undefined>;
  /** Returns the position in its owner's list, also after a removal. A consistent read. */
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
  /** Lists the videos of one account, without refused ones. May miss the latest writes. */
  list(accountId: string, range: JobRange): Promise<JobPage>;
  /** Removes an ended video. The id and its position remain. */
  remove(id: string): Promise<boolean>;
  /** Ids of jobs that have not ended and whose time to be looked at has come. */
  due(nowMs: number): Promise<readonly string[]>;
  /** Only while not ended. */
  postpone(id: string, dueAtMs: number): Promise<boolean>;
}

export interface VideoTimes {
  /** Time that the provider has to accept a job, in ms. */
  readonly createMs: number;
  /** Between the first polls; later ones are further apart, up to `pollMaxMs`. */
  readonly pollMs: number;
  readonly pollMaxMs: number;
  /** VID-7: an older job fails. */
  readonly limitMs: number;
  /** How long a video's hold lives (BILL-13). */
  readonly holdMs: number;
}

/** What clocks of two processes may differ by. */
const SKEW_MS = 5_000;

/**
 * Whether the creation may still be in progress. All processes count from the creation, so that none releases a video
 * that another may still start.
 */
export const mayStillBegin = ({ createdAtMs }: VideoJob, { createMs }: VideoTimes, nowMs: number): boolean =>
  nowMs < createdAtMs + createMs + SKEW_MS;

export const neverBegun: VideoFailure = {
  code: 'upstream_error',
  message: 'Video creation did not complete. Nothing was charged. Create the video again.',
};
