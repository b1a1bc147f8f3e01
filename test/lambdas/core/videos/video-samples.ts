import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { VideoModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { StoredResponse } from '../../../../lambdas/core/idempotency/claim-store.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { VideoParams } from '../../../../lambdas/core/videos/create-video.ts';
import type { VideoJob, VideoTimes } from '../../../../lambdas/core/videos/video-job.ts';
import type { VideoAsk } from '../../../../lambdas/core/videos/video-wire.ts';
import { data, provider, text, upstream, without } from '../catalog/sample-data.ts';

type Json = Readonly<Record<string, unknown>>;

export const NOW = Date.UTC(2026, 10, 1);
export const ACCOUNT = 'account-1';
export const REQUEST = '01KA0000000000000000000001';
export const VIDEO = `video_${REQUEST}`;
export const LEASE_MS = 60_000;

export const times: VideoTimes = {
  createMs: 60_000,
  pollMs: 10_000,
  pollMaxMs: 60_000,
  limitMs: 3_600_000,
  holdMs: 7_200_000,
  webhookRetryMs: 10_000,
};

const common = ['capabilities', 'limits', 'reasoning'].reduce(without, text());

/** Returns an entry priced by token: 7 USD per million, 7.7 USD in full HD. */
export const byTokens = (changes: Json = {}): Json => ({
  ...common,
  id: 'film-1',
  kind: 'video',
  protocols: ['videos'],
  upstreams: [upstream({ wire: 'openai_videos', model: 'vendor-name' })],
  outputTypes: ['video'],
  video: {
    seconds: ['4', '8', '12'],
    sizes: ['1280x720', '1920x1080'],
    tokens: { framesPerSecond: 24, divisor: 1024 },
    inputReference: true,
  },
  prices: [{ unit: '1M_tokens', rates: { output: '7', output1080p: '7.7' } }],
  ...changes,
});

/** Returns an entry priced by second, at the rate of the size. */
export const bySeconds = (changes: Json = {}): Json =>
  byTokens({
    id: 'film-2',
    video: { seconds: ['4', '8', '12'], sizes: ['1280x720', '1920x1080'], inputReference: true },
    prices: [{ unit: 'second', rates: {}, bySize: { '1280x720': '0.1', '1920x1080': '0.25' } }],
    ...changes,
  });

export const catalogOf = (...models: readonly Json[]) => loadCatalog(data(models, [provider()]));

export const videoModel = (entry: Json): VideoModel => {
  const model = catalogOf(entry).find(String(entry.id), NOW);
  if (model?.kind !== 'video') throw new Error('not a video model');
  return model;
};

/** Returns a request for 4 s of 1280x720. The test of the price computes its cost by hand. */
export const ask = (changes: Partial<VideoAsk> = {}): VideoAsk => ({
  prompt: 'a cat',
  seconds: 4,
  width: 1280,
  height: 720,
  ...changes,
});

export const orderOf = (changes: Partial<VideoParams> = {}): VideoParams => ({
  modelId: 'film-1',
  webhook: undefined,
  validateFor: () => ask(),
  ...changes,
});

/** Builds the response of a creation from immutable fields of the video only, as the real renderer does. */
export const toStored = ({ id, prompt, seconds }: VideoJob): StoredResponse => ({
  status: 200,
  headers: { 'x-cost': '0' },
  body: JSON.stringify({ id, prompt, seconds, status: 'queued' }),
});

/** Returns a job right after its creation. Its hold is 10 USD, at 1 USD per token. */
export const jobOf = (changes: Partial<VideoJob> = {}): VideoJob => ({
  id: VIDEO,
  accountId: ACCOUNT,
  requestId: REQUEST,
  holdId: `${REQUEST}.0`,
  holdAmountPicos: parseUsd('10'),
  modelId: 'film-1',
  providerId: 'openai',
  wire: 'openai_videos',
  upstreamModel: 'vendor-name',
  prompt: 'a cat',
  seconds: 4,
  width: 1280,
  height: 720,
  createdAtMs: NOW,
  terms: { unit: 'token', ratePicos: parseUsd('1'), unitsMax: 20 },
  state: 'queued',
  progress: 0,
  refused: false,
  ...changes,
});

/** Response to one client. */
export interface Got {
  readonly status: number;
  readonly body: string;
}

export const toError = (error: unknown): Got => {
  if (!(error instanceof GatewayError)) throw error;
  return { status: error.status, body: error.code };
};
