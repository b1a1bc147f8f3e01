import * as z from 'zod';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { JsonValue } from '../core/json.ts';
import type { CreatedJob, VideoFailure } from '../core/videos/video-job.ts';
import type { UpstreamJob, VideoFile, VideoStatus } from '../core/videos/video-wire.ts';
import { readJson } from './read-json.ts';
import { unreadable, vendorWords } from './refusals.ts';
import type { UpstreamResponse } from './upstream-http.ts';
import { callVendor, type VendorAnswer, type VendorCall, type WireOptions } from './vendor-call.ts';

/** The id is stored and becomes a segment of a path, where `.` and `..` would lead elsewhere. */
const idForm = /^(?!\.{1,2}$)[\x21-\x7e]{1,1024}$/;

const creation = z.object({ id: z.string().regex(idForm) });

/** Statuses of a creation. Some providers use 201 or 202, and a job that they started must not count as refused. */
const created: ReadonlySet<number> = new Set([200, 201, 202]);

type VideoCall = Omit<VendorCall, 'streamed' | 'accepts'>;

/** Creates a job. All providers send their id of it as `id`. */
export const createJob = async (options: WireOptions, call: VideoCall): Promise<CreatedJob> => {
  const accepts = (status: number): boolean => created.has(status);
  const { response, refusalContext, credentialId } = await callVendor(options, { ...call, streamed: false, accepts });
  const body = await readJson(response);
  const parsed = creation.safeParse(body);
  if (parsed.success) return { upstreamId: parsed.data.id, credentialId };
  // An error with a success status is still a refusal.
  throw z.object({ error: z.object({}) }).safeParse(body).success
    ? call.refuse(500, body, refusalContext)
    : unreadable();
};

/** Reads the job status of one provider. */
interface StatusReader {
  readonly path: string;
  readonly toStatus: (body: JsonValue, refusalContext: VendorAnswer['refusalContext']) => VideoStatus;
  /** Whether this error response means that the job does not exist. */
  readonly isGone: (status: number, body: JsonValue) => boolean;
  readonly refuse: VendorCall['refuse'];
}

/** Polls a job once. Without a readable body the status is unknown, whatever the HTTP status (VID-7). */
export const pollJob = async (
  options: WireOptions,
  { provider, credentialId, signal }: UpstreamJob,
  { path, toStatus, isGone, refuse }: StatusReader,
): Promise<VideoStatus> => {
  const call = { provider, credentialId, path, streamed: false, signal, refuse, accepts: () => true };
  const { response, refusalContext, credentialId: used } = await callVendor(options, call);
  const { status } = response;
  const body = await readJson(response).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof GatewayError)) throw error;
    return undefined;
  });
  if (body === undefined && (status === 200 || status === 404)) return { kind: 'unknown' };
  if (body !== undefined && status === 200) return toStatus(body, refusalContext);
  // Only the credential that created the job can see it for certain. A process may not have read it yet.
  const isOwn = credentialId === undefined || credentialId === used;
  if (body !== undefined && isGone(status, body)) return { kind: isOwn ? 'gone' : 'unknown' };
  throw refuse(status, body, refusalContext);
};

/** Limit in characters. With the text around it, a failure has at most 500 characters. */
const VENDOR_WORDS_MAX = 380;

const openings = {
  content_filter: 'The safety filter of the provider stopped the video.',
  upstream_error: 'The provider could not create the video.',
} as const;

/** Failure of a job at the provider. `words` is the provider's message, empty for none. `secret` is removed from it. */
export const toFailure = (code: keyof typeof openings, words: string, secret: string): VideoFailure => {
  const shown = vendorWords(words, secret, VENDOR_WORDS_MAX);
  const detail = shown === '' ? '' : ` Its message: ${shown}${/[.!?]$/.test(shown) ? '' : '.'}`;
  return { code, message: `${openings[code]}${detail} Nothing was charged.` };
};

/** Some storages choose the file by this header. Those that do not know the type must still respond. */
export const VIDEO_ACCEPT = 'video/mp4, */*;q=0.1';

/** Time in ms after which a silent provider counts as stopped. */
const SILENCE_MS = 30_000;

/** Timer for the provider's silence. It runs only while the gateway waits for the provider. */
interface Watch {
  readonly signal: AbortSignal;
  arm(): void;
  rest(): void;
  /** Aborts the request. */
  cut(): void;
}

/**
 * Starts a download. It aborts itself if nothing arrives for `silenceMs`, or if the first byte is not read for that
 * long. It cannot use the signal of the poll that found the file, because that poll is over by then. Throws
 * GatewayError.
 */
export const openVideo = async (
  send: (signal: AbortSignal) => Promise<UpstreamResponse>,
  silenceMs = SILENCE_MS,
): Promise<VideoFile> => {
  const watch = watchFor(silenceMs);
  watch.arm();
  try {
    const response = await send(watch.signal);
    if (response.status !== 200) {
      response.discard();
      throw noFile();
    }
    return { bytes: passOn(response, watch), length: lengthOf(response.headers['content-length']) };
  } catch (error) {
    watch.rest();
    throw error;
  }
};

export const noFile = (): GatewayError =>
  new GatewayError('upstream_error', 'The provider does not return the file of the video. Nothing was charged.');

const watchFor = (silenceMs: number): Watch => {
  const late = new AbortController();
  const silent = (): void =>
    late.abort(new GatewayError('upstream_timeout', 'The download of the video stopped. Nothing was charged.'));
  let timer: NodeJS.Timeout | undefined;
  const rest = (): void => clearTimeout(timer);
  return {
    signal: late.signal,
    arm: () => {
      rest();
      timer = setTimeout(silent, silenceMs);
    },
    rest,
    cut: () => {
      rest();
      late.abort(new GatewayError('upstream_error', 'The file of the video is no longer needed.'));
    },
  };
};

async function* passOn({ body }: UpstreamResponse, watch: Watch): AsyncGenerator<Uint8Array> {
  let whole = false;
  try {
    for await (const piece of body) {
      watch.rest();
      yield piece;
      watch.arm();
    }
    whole = true;
  } finally {
    if (whole) watch.rest();
    else watch.cut();
  }
}

const lengthOf = (header: string | string[] | undefined): number | undefined => {
  const length = typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : Number.NaN;
  return Number.isSafeInteger(length) ? length : undefined;
};
