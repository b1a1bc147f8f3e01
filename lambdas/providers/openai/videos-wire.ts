import * as z from 'zod';
import { isJsonObject, type JsonValue } from '../../core/json.ts';
import type {
  ReferenceImage,
  UpstreamJob,
  VideoCreation,
  VideoStatus,
  VideoWire,
} from '../../core/videos/video-wire.ts';
import type { LinkedVideo } from '../linked-video.ts';
import type { RefusalContext } from '../refusals.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { callVendor, type VendorCall, type WireOptions } from '../vendor-call.ts';
import { createJob, noFile, openVideo, pollJob, toFailure, VIDEO_ACCEPT } from '../video-answers.ts';
import { isAboutAccount, isFiltered, parseRefusal, toOpenaiError } from './errors.ts';

/** The `Video` of the package openai 7.55.0. */
const video = z.object({ status: z.string() });
const running = z.object({ progress: z.number().min(0).max(100).transform(Math.floor) });

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const refuse: VendorCall['refuse'] = (status, body, refusalContext) =>
  toOpenaiError(status, parseRefusal(body), refusalContext, 'prompt');

interface OpenaiVideoOptions extends WireOptions {
  readonly linkedVideo: LinkedVideo;
}

/** Wire for https://developers.openai.com/api/reference/resources/videos, which other providers have adopted. */
export const createOpenaiVideoWire = ({ linkedVideo, ...options }: OpenaiVideoOptions): VideoWire => ({
  create: (creation) => {
    const { provider, signal } = creation;
    return createJob(options, { provider, path: '/videos', ...toPayload(creation), signal, refuse });
  },
  poll: (job) =>
    pollJob(options, job, {
      path: pathOf(job),
      toStatus: (body, refusalContext) =>
        toStatus(body, refusalContext, () => openVideo((signal) => fetchContent(options, linkedVideo, job, signal))),
      isGone: (status, body) => status === 404 && !isAboutAccount(parseRefusal(body)),
      refuse,
    }),
});

const pathOf = ({ upstreamId }: UpstreamJob): string => `/videos/${encodeURIComponent(upstreamId)}`;

/** Payload of a creation. A file requires a form. */
const toPayload = (creation: VideoCreation): Pick<VendorCall, 'body' | 'form'> => {
  const { upstreamModel, prompt, seconds, width, height, reference } = creation;
  const fields = { model: upstreamModel, prompt, seconds: String(seconds), size: `${width}x${height}` };
  if (!reference) return { body: fields };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('input_reference', toFile(reference));
  return { form };
};

const toFile = ({ mediaType, bytes }: ReferenceImage): File =>
  new File([new Uint8Array(bytes)], `input_reference.${mediaType.slice('image/'.length)}`, { type: mediaType });

type Succeeded = Extract<VideoStatus, { readonly kind: 'succeeded' }>;

const toStatus = (body: JsonValue, refusalContext: RefusalContext, open: Succeeded['open']): VideoStatus => {
  switch (video.safeParse(body).data?.status) {
    case 'queued':
      return { kind: 'queued' };
    case 'in_progress':
      return { kind: 'running', progress: running.safeParse(body).data?.progress };
    case 'completed':
      return { kind: 'succeeded', tokens: undefined, open };
    case 'failed':
      return failed(body, refusalContext);
    default:
      return { kind: 'unknown' };
  }
};

const failed = (body: JsonValue, refusalContext: RefusalContext): VideoStatus => {
  const error = isJsonObject(body) && isJsonObject(body.error) ? body.error : {};
  const refusal = parseRefusal({ error });
  const isOurs = isAboutAccount(refusal);
  if (isOurs) refusalContext.notice('vendor_refused_us');
  const code = isFiltered(refusal) ? 'content_filter' : 'upstream_error';
  return { kind: 'failed', failure: toFailure(code, isOurs ? '' : refusal.message, refusalContext.secret) };
};

/**
 * Requests the file. OpenAI sends the bytes itself, but other providers of its protocol, and gateways in front of them,
 * redirect to a signed URL (https://github.com/api7/aisix/pull/820). Follows one redirect, only to https and without
 * the provider key: the URL is its own permission, and its host must not get the provider key.
 */
const fetchContent = async (
  options: WireOptions,
  linkedVideo: LinkedVideo,
  job: UpstreamJob,
  signal: AbortSignal,
): Promise<UpstreamResponse> => {
  const { response } = await callVendor(options, {
    provider: job.provider,
    credentialId: job.credentialId,
    path: `${pathOf(job)}/content`,
    streamed: false,
    accept: VIDEO_ACCEPT,
    // A missing file (404) is not a missing model.
    accepts: (status) => status === 200 || status === 404 || redirects.has(status),
    signal,
    refuse,
  });
  if (!redirects.has(response.status)) return response;
  response.discard();
  const { location } = response.headers;
  const target = typeof location === 'string' ? URL.parse(location) : null;
  if (target?.protocol !== 'https:') throw noFile();
  return linkedVideo({ url: target.href, baseUrl: options.access(job.provider.id).baseUrl, signal });
};
