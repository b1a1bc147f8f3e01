import { readWebhookSecret, signingSecrets } from '../../core/accounts/webhook-secret.ts';
import type { PaidEvent, VideoEvent } from '../../core/metrics.ts';
import type { PaidCallDependencies } from '../../core/paid-call/dependencies.ts';
import type { CreateDependencies } from '../../core/videos/create-video.ts';
import type { VideoStepDependencies } from '../../core/videos/dependencies.ts';
import type { ExistingVideoDependencies } from '../../core/videos/existing-video.ts';
import type { ReadDependencies } from '../../core/videos/read-videos.ts';
import { isVideoId, type VideoJob, type VideoTimes } from '../../core/videos/video-job.ts';
import type { DeliveryResult } from '../../core/webhook-delivery.ts';
import { toWebhookBody, webhookIdOf } from '../../protocols/videos/video-object.ts';
import type { Settings } from '../../settings.ts';
import type { FunctionDependencies, VideoFunctionDependencies } from './dependencies.ts';
import { toLedgerDependencies, toMarginMeter } from './ledger.ts';
import { toVideoWires } from './media-wires.ts';
import { toCircuits } from './paid-call.ts';
import { toWireOptions } from './wire-options.ts';

export const toVideoTimes = (settings: Settings): VideoTimes => ({
  createMs: settings.VIDEO_CREATE_SECONDS * 1_000,
  pollMs: settings.VIDEO_POLL_SECONDS * 1_000,
  pollMaxMs: settings.VIDEO_POLL_SECONDS_MAX * 1_000,
  limitMs: settings.VIDEO_LIMIT_SECONDS * 1_000,
  holdMs: settings.VIDEO_HOLD_SECONDS * 1_000,
  webhookRetryMs: settings.VIDEO_WEBHOOK_RETRY_SECONDS * 1_000,
});

export const toVideoStepDependencies = (
  deps: VideoFunctionDependencies,
  circuits = toCircuits(deps),
): VideoStepDependencies => ({
  catalog: deps.catalog,
  wires: toVideoWires(toWireOptions(deps), deps.linkedVideo),
  jobs: deps.videoJobs,
  files: deps.videoFiles,
  ledger: toLedgerDependencies(deps),
  times: toVideoTimes(deps.settings),
  notice: (notice, videoId) => deps.reporting.notice(notice, { videoId }),
  measured: deps.reporting.measured,
  margin: toMarginMeter(deps.reporting),
  usageMissing: (modelId, accountId) => circuits.usageMissing(modelId, accountId),
  deliver: (job) => deliver(deps, job),
});

const deliver = async (deps: VideoFunctionDependencies, job: VideoJob): Promise<DeliveryResult> => {
  if (!job.webhook) throw new Error(`${job.id} has no webhook`);
  const { url, secret: keySecret } = job.webhook;
  const secrets = signingSecrets(await readWebhookSecret(deps, job.accountId), deps.clock.now());
  return deps.sendWebhook({ url, id: webhookIdOf(job), body: toWebhookBody(job), secrets, keySecret });
};

/** Creating a video can also end another one: the video of the request whose idempotency claim is taken over. */
export const toCreateDependencies = (
  deps: FunctionDependencies,
  paid: PaidCallDependencies,
): CreateDependencies & ExistingVideoDependencies => ({
  ...paid,
  ...toVideoStepDependencies(deps, paid.circuits),
  machine: deps.videoMachine,
  notice: (notice: PaidEvent | VideoEvent, id: string) =>
    deps.reporting.notice(notice, isVideoId(id) ? { videoId: id } : { requestId: id }),
});

export const toReadDependencies = ({ videoJobs, videoFiles, clock }: FunctionDependencies): ReadDependencies => ({
  jobs: videoJobs,
  files: videoFiles,
  now: () => clock.now(),
});
