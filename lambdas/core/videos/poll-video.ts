import { wireSchema } from '../catalog/providers.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { VideoStepDependencies } from './dependencies.ts';
import { isEnded, mayStillBegin, neverBegun, type VideoFailure, type VideoJob, type VideoTimes } from './video-job.ts';
import type { VideoStatus } from './video-wire.ts';

/** Result by which the workflow chooses its next step. `ended`: nothing is left to do. */
export interface Polled {
  readonly outcome: 'running' | 'succeeded' | 'failed' | 'ended';
  /** Time until the next poll, in whole seconds, at least 1. */
  readonly waitSeconds: number;
  /** Time since the creation, in whole seconds. */
  readonly elapsedSeconds: number;
}

const CALL_MS = 30_000;

/**
 * Polls the provider once. Throws only StoreError. An invalid response of the provider leaves the state unchanged
 * (VID-7).
 */
export const pollVideo = async (deps: VideoStepDependencies, videoId: string): Promise<Polled> => {
  const { jobs, ledger, times } = deps;
  const job = await retryUntilDefinite(ledger, () => jobs.read(videoId));
  const elapsedMs = job ? Math.max(0, ledger.clock.now() - job.createdAtMs) : 0;
  const as = (outcome: Polled['outcome']): Polled => ({
    outcome,
    waitSeconds: waitAfter(elapsedMs, times),
    elapsedSeconds: Math.floor(elapsedMs / 1_000),
  });
  if (!job || job.state === 'completed') return as('ended');
  // Its hold may still be open. A release that failed is repeated.
  if (isEnded(job) || job.failure) return as('failed');
  const failsWith = async (failure: VideoFailure): Promise<Polled> => {
    await retryUntilDefinite(ledger, () => jobs.noteFailure(videoId, failure));
    return as('failed');
  };
  const isYoung = mayStillBegin(job, times, ledger.clock.now());
  if (job.upstreamId === undefined) return isYoung ? as('running') : failsWith(neverBegun);
  const status = await ask(deps, job, job.upstreamId);
  switch (status.kind) {
    case 'queued':
    case 'unknown':
      return as('running');
    case 'gone':
      // A provider may need a moment to list its own job.
      return isYoung ? as('running') : failsWith(vanished);
    case 'failed':
      return failsWith(status.failure);
    case 'running':
    case 'succeeded':
      await retryUntilDefinite(ledger, () =>
        jobs.advance(videoId, status.kind === 'running' ? status.progress : undefined),
      );
      return as(status.kind);
  }
};

const vanished: VideoFailure = {
  code: 'upstream_error',
  message: 'The provider lost this video. Nothing was charged. Create the video again.',
};

/** Returns half the time that the video has taken so far, within the limits, so polls become less frequent. */
const waitAfter = (elapsedMs: number, { pollMs, pollMaxMs }: VideoTimes): number =>
  Math.max(1, Math.round(Math.min(pollMaxMs, Math.max(pollMs, elapsedMs / 2)) / 1_000));

const ask = async (deps: VideoStepDependencies, job: VideoJob, upstreamId: string): Promise<VideoStatus> => {
  try {
    return await askVendor(deps, job, upstreamId, CALL_MS);
  } catch (error) {
    if (error instanceof GatewayError) return { kind: 'unknown' };
    throw error;
  }
};

/** Polls the provider. Throws GatewayError if the provider does not respond or is no longer configured. */
export const askVendor = async (
  { catalog, wires, ledger }: VideoStepDependencies,
  job: VideoJob,
  upstreamId: string,
  timeoutMs: number,
): Promise<VideoStatus> => {
  const provider = catalog.provider(job.providerId);
  const known = wireSchema.safeParse(job.wire).data;
  const wire = known && wires.get(known);
  if (!provider || !wire)
    throw new GatewayError('model_unavailable', 'The provider of this video is no longer available.');
  const late = new AbortController();
  const cancel = ledger.clock.after(timeoutMs, () =>
    late.abort(new GatewayError('upstream_timeout', 'The provider did not respond in time.')),
  );
  try {
    return await wire.poll({ provider, upstreamId, credentialId: job.credentialId, signal: late.signal });
  } finally {
    cancel();
  }
};
