import type { ErrorCode } from '../errors/error-codes.ts';
import type { HoldCap } from '../ledger/caps.ts';
import type { DeliveryState } from '../webhook-delivery.ts';

/** States only move forward; `completed` and `failed` are final (VID-3). */
export type VideoState = 'queued' | 'in_progress' | 'completed' | 'failed';

const states: readonly string[] = ['queued', 'in_progress', 'completed', 'failed'] satisfies readonly VideoState[];
const isState = (value: string): value is VideoState => states.includes(value);

/**
 * Reads a stored state. Throws an Error for one of a newer release: no step can know whether such a video was charged,
 * or may still be.
 */
export const toVideoState = (value: string): VideoState => {
  if (isState(value)) return value;
  throw new Error(`the state "${value}" is of a newer release`);
};

/** Prices of a video at the time of its hold (BILL-3). */
export interface VideoTerms {
  readonly unit: 'token' | 'second';
  /** Pico-USD per unit. */
  readonly ratePicos: bigint;
  /** Counts above this are implausible (BILL-7). */
  readonly unitsMax: number;
}

export interface VideoFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Job that a provider has accepted. */
export interface CreatedJob {
  /** The provider's id of the job. */
  readonly upstreamId: string;
  /** Credential that created the job and must poll it (VID-9). */
  readonly credentialId: string;
}

/** A finished file in the bucket. */
export interface StoredFile {
  /** Name of the object. Each attempt has its own object, so that a late one never replaces the charged file. */
  readonly name: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** Webhook of a client. */
export interface Webhook {
  readonly url: string;
  /** Secret of the API key that created the video. It signs `X-Service-Signature` of deliveries. Never shown. */
  readonly secret: string;
}

/** Reads a stored unit. Throws an Error for one of a newer release, which this release cannot charge. */
export const toVideoUnit = (value: string): VideoTerms['unit'] => {
  if (value === 'token' || value === 'second') return value;
  throw new Error(`the unit "${value}" is of a newer release`);
};

/** Facts that are known when a video is requested, and that never change. */
export interface VideoParamsRecord {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly holdId: string;
  readonly holdAmountPicos: bigint;
  readonly modelId: string;
  readonly providerId: string;
  /** A wire of the catalog, or one of a newer release. */
  readonly wire: string;
  /** The provider's name of the model. */
  readonly upstreamModel: string;
  readonly prompt: string;
  /** In whole seconds. */
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  readonly createdAtMs: number;
  readonly terms: VideoTerms;
  readonly webhook?: Webhook | undefined;
  /** Public id of the API key. Undefined in a record of an earlier release, like `endpoint`. */
  readonly keyId?: string | undefined;
  /** Path of the route. */
  readonly endpoint?: string | undefined;
  /** Cap in which the hold and its charge count (KEY-9). */
  readonly cap?: HoldCap | undefined;
}

/** A video from its creation to its end. The record commits the creation. */
export interface VideoJob extends VideoParamsRecord {
  readonly state: VideoState;
  /** From 0 to 100. */
  readonly progress: number;
  /** The provider's id of the job. Without one the video is never charged. */
  readonly upstreamId?: string | undefined;
  /** Identifies the provider credential that created the job. Undefined if an older release stored the upstream id. */
  readonly credentialId?: string | undefined;
  /** Whether the creation was refused: its client got an error, and no list shows the video. */
  readonly refused: boolean;
  /** Reason of a failure that has happened or is about to. */
  readonly failure?: VideoFailure | undefined;
  readonly file?: StoredFile | undefined;
  /** Tokens that the provider counted; undefined until the file is stored, or if it counts none. */
  readonly tokens?: number | undefined;
  readonly completedAtMs?: number | undefined;
  /** Deliveries of the webhook. Undefined before the first one. */
  readonly delivery?: DeliveryState | undefined;
}

/** Retention of a file, in ms (VID-7). */
export const CONTENT_KEPT_MS = 24 * 60 * 60 * 1_000;

export const isEnded = ({ state }: VideoJob): boolean => state === 'completed' || state === 'failed';

/** Returns the id of the video of a request. A request creates at most one video. */
export const videoIdOf = (requestId: string): string => `video_${requestId}`;

const idForm = /^video_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const isVideoId = (text: string): boolean => idForm.test(text);

/** Whether a stored record is of this creation, as after a lost reply. Two requests with equal ids have other records. */
export const isSameCreation = (stored: VideoParamsRecord, order: VideoParamsRecord): boolean => {
  const facts = factsOf(order);
  return factsOf(stored).every((fact, index) => fact === facts[index]);
};

const factsOf = (record: VideoParamsRecord): readonly unknown[] => {
  const { id, accountId, requestId, holdId, holdAmountPicos, modelId, providerId, wire, upstreamModel } = record;
  const { prompt, seconds, width, height, createdAtMs, terms, webhook, keyId, endpoint, cap } = record;
  const request = [
    id,
    accountId,
    requestId,
    holdId,
    holdAmountPicos,
    createdAtMs,
    webhook?.url,
    webhook?.secret,
    keyId,
    endpoint,
  ];
  const call = [modelId, providerId, wire, upstreamModel, prompt, seconds, width, height];
  return [...request, ...call, terms.unit, terms.ratePicos, terms.unitsMax, cap?.keyId, cap?.period];
};

export type CreateReply =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists'; readonly job: VideoJob }
  /** The video can no longer be created, or it was removed. */
  | { readonly kind: 'closed' };

export type AbandonReply =
  /** The video does not exist and can never be created. */
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'exists'; readonly job: VideoJob }
  /** The owner removed the video. */
  | { readonly kind: 'removed' };

export interface JobPosition {
  readonly id: string;
  readonly accountId: string;
  readonly createdAtMs: number;
}

export interface JobRange {
  readonly limit: number;
  /** Only videos after this position in the list. */
  readonly after?: JobPosition | undefined;
  readonly newestFirst: boolean;
}

/** Reads the jobs of a list, without unreadable ones. The steps and the scheduled check of such a video report it. */
export const readableJobs = <Stored>(stored: readonly Stored[], read: (one: Stored) => VideoJob): VideoJob[] =>
  stored.flatMap((one) => {
    try {
      return [read(one)];
    } catch {
      return [];
    }
  });

export interface JobPage {
  readonly jobs: readonly VideoJob[];
  readonly more: boolean;
}

export type Ending =
  | { readonly state: 'completed'; readonly completedAtMs: number }
  | { readonly state: 'failed'; readonly failure: VideoFailure };

/**
 * Store of videos. Each method is one call, safe to repeat, and throws StoreError if the result is not definite. A
 * method that must read a job throws an Error that names the video if the job is unreadable, or has a state or a unit of
 * a newer release (OPS-11).
 * Methods that return a boolean report whether the job now has the requested state; `false` means that its present
 * state does not allow it.
 */
export interface VideoJobStore {
  /**
   * Commits a creation, if there is no record yet. `dueAtMs`: when the scheduled task checks whether the video is still
   * in progress.
   */
  create(order: VideoParamsRecord, dueAtMs: number): Promise<CreateReply>;
  /** Makes the creation impossible, if it was not committed yet. */
  abandon(id: string): Promise<AbandonReply>;
  /** Reads consistently. Returns undefined for an abandoned or removed video. */
  read(id: string): Promise<VideoJob | undefined>;
  /** Returns the position in the owner's list, also after a removal. Reads consistently. */
  locate(id: string): Promise<JobPosition | undefined>;
  /** Sets the upstream id and the credential of a queued job that has none. */
  setUpstream(id: string, upstreamId: string, credentialId?: string): Promise<boolean>;
  /** Fails a queued job without an upstream id. No list shows it. */
  refuse(id: string, failure: VideoFailure): Promise<boolean>;
  /** Moves a job that has not ended to in_progress. Progress never decreases. */
  advance(id: string, progress: number | undefined): Promise<boolean>;
  /** Records why a job that has not ended is about to fail. The first reason counts. */
  noteFailure(id: string, failure: VideoFailure): Promise<boolean>;
  /** Records the stored file of a job that has not ended. The first file counts. */
  noteFile(id: string, file: StoredFile, tokens: number | undefined): Promise<boolean>;
  /** Ends a job that has not ended. */
  end(id: string, ending: Ending): Promise<boolean>;
  /** Records the deliveries of an ended job. A state with fewer or as many attempts changes nothing. */
  noteDelivery(id: string, delivery: DeliveryState): Promise<boolean>;
  /**
   * Lists the videos of one account, without refused ones, and without unreadable ones, so that one job does not hide
   * all others. May miss the latest writes.
   */
  list(accountId: string, range: JobRange): Promise<JobPage>;
  /** Removes an ended video. The id and its position remain. */
  remove(id: string): Promise<boolean>;
  /** Returns ids of jobs that have not ended and whose check is due. */
  due(nowMs: number): Promise<readonly string[]>;
  /** Sets the next check of a job that has not ended. */
  postpone(id: string, dueAtMs: number): Promise<boolean>;
}

export interface VideoTimes {
  /** Time that the provider has to accept a job, in ms. */
  readonly createMs: number;
  /** Interval of the first polls, in ms. Later intervals grow up to `pollMaxMs`. */
  readonly pollMs: number;
  readonly pollMaxMs: number;
  /** Age in ms at which a job fails (VID-7). */
  readonly limitMs: number;
  /** Lifetime of a video's hold, in ms (BILL-13). */
  readonly holdMs: number;
  /** Longest wait before the second delivery of a webhook, in ms. */
  readonly webhookRetryMs: number;
}

/** Largest expected difference between the clocks of two processes, in ms. */
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
