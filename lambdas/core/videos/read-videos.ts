import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { ByteRange, VideoFiles } from './dependencies.ts';
import type { JobPage, JobPosition, JobRange, VideoJobStore } from './video-job.ts';
import { CONTENT_KEPT_MS, isEnded, isVideoId, type StoredFile, type VideoJob } from './video-job.ts';

export interface ReadDependencies {
  readonly jobs: VideoJobStore;
  readonly files: VideoFiles;
  readonly now: () => number;
}

const unavailable = (cause: StoreError): GatewayError =>
  new GatewayError('service_unavailable', 'Videos cannot be looked up now. Retry later.', { cause });

const answered = async <T>(pending: Promise<T>): Promise<T> => {
  try {
    return await pending;
  } catch (error) {
    throw error instanceof StoreError ? unavailable(error) : error;
  }
};

export const noSuchVideo = (): GatewayError =>
  new GatewayError('not_found', 'There is no video with this id. Check the id.');

/** Returns a video of the account. Videos of other accounts are not found (AUTH-7). */
export const readVideo = async ({ jobs }: ReadDependencies, accountId: string, videoId: string): Promise<VideoJob> => {
  const job = isVideoId(videoId) ? await answered(jobs.read(videoId)) : undefined;
  // A refused creation has no video for the client.
  if (job?.accountId !== accountId || job.refused) throw noSuchVideo();
  return job;
};

/** Returns the position of a video in the account's list, also after its removal; undefined if there was none. */
export const locateVideo = async (
  { jobs }: ReadDependencies,
  accountId: string,
  videoId: string,
): Promise<JobPosition | undefined> => {
  const position = isVideoId(videoId) ? await answered(jobs.locate(videoId)) : undefined;
  return position?.accountId === accountId ? position : undefined;
};

export const listVideos = ({ jobs }: ReadDependencies, accountId: string, range: JobRange): Promise<JobPage> =>
  answered(jobs.list(accountId, range));

/** Removes a video (VID-8). Removes the file first, so that no file remains without its video. */
export const removeVideo = async (deps: ReadDependencies, accountId: string, videoId: string): Promise<void> => {
  const job = await readVideo(deps, accountId, videoId);
  const inProgress = (): GatewayError =>
    new GatewayError('video_in_progress', 'The video is in progress. Wait for its end, then delete it.');
  if (!isEnded(job)) throw inProgress();
  if (job.file) await answered(deps.files.remove(job.file.name));
  if (!(await answered(deps.jobs.remove(videoId)))) throw inProgress();
};

/** Returns the time in Unix milliseconds from which the file is no longer available; undefined without a file. */
export const expiresAtOf = ({ completedAtMs }: VideoJob): number | undefined =>
  completedAtMs === undefined ? undefined : completedAtMs + CONTENT_KEPT_MS;

/** Returns the file of a completed video (VID-4, VID-7). Throws the error that its state or age causes. */
export const fileOf = (job: VideoJob, nowMs: number): StoredFile => {
  if (job.state === 'failed') {
    throw new GatewayError('not_found', 'This video failed and has no content. Its `error` has the reason.');
  }
  const expiresAtMs = expiresAtOf(job);
  if (job.state !== 'completed' || !job.file || expiresAtMs === undefined) {
    throw new GatewayError('video_not_ready', 'The video is not completed. Request its status until it is completed.');
  }
  if (nowMs >= expiresAtMs) throw expired();
  return job.file;
};

export const expired = (): GatewayError =>
  new GatewayError(
    'expired',
    'The content of a video is kept for 24 hours after its completion. Create the video again.',
  );

/** Returns all bytes or a range of them. */
export const openFile = async (
  { files }: ReadDependencies,
  { name }: StoredFile,
  range: ByteRange | undefined,
): Promise<AsyncIterable<Uint8Array>> => {
  const bytes = await answered(files.open(name, range));
  if (!bytes) throw expired();
  return bytes;
};
