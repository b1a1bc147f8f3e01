import * as z from 'zod';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { JsonValue } from '../core/json.ts';
import type { VideoFailure } from '../core/videos/video-job.ts';
import type { UpstreamJob, VideoStatus } from '../core/videos/video-wire.ts';
import { readJson } from './read-json.ts';
import { unreadable, vendorWords } from './refusals.ts';
import { callVendor, type VendorAnswer, type VendorCall, type WireOptions } from './vendor-call.ts';

/** It is stored and becomes a segment of a path, where `.` and `..` would lead elsewhere. */
const idForm = /^(?!\.{1,2}$)[\x21-\x7e]{1,1024}$/;

const creation = z.object({ id: z.string().regex(idForm) });

/** Some vendors answer a creation as HTTP would have it. Whatever they have begun must not count as refused. */
const created: ReadonlySet<number> = new Set([200, 201, 202]);

type VideoCall = Omit<VendorCall, 'streamed' | 'accepts'>;

/** Begins a job: the vendor's id of it, out of the `id` that all of them answer with. */
export const createJob = async (options: WireOptions, call: VideoCall): Promise<string> => {
  const accepts = (status: number): boolean => created.has(status);
  const { response, told } = await callVendor(options, { ...call, streamed: false, accepts });
  const body = await readJson(response);
  const parsed = creation.safeParse(body);
  if (parsed.success) return parsed.data.id;
  // An error under a status of success is a refusal none the less.
  throw z.object({ error: z.object({}) }).safeParse(body).success ? call.refuse(500, body, told) : unreadable();
};

/** How one vendor tells of a job. */
export interface StatusReader {
  readonly path: string;
  readonly toStatus: (body: JsonValue, told: VendorAnswer['told']) => VideoStatus;
  /** Whether this answer, which is no success, says that there is no such job. */
  readonly isGone: (status: number, body: JsonValue) => boolean;
  readonly refuse: VendorCall['refuse'];
}

/** One look at a job. What comes without a readable body says nothing about it, whatever its status (VID-7). */
export const pollJob = async (
  options: WireOptions,
  { provider, signal }: UpstreamJob,
  { path, toStatus, isGone, refuse }: StatusReader,
): Promise<VideoStatus> => {
  const call = { provider, path, streamed: false, signal, refuse, accepts: () => true };
  const { response, told } = await callVendor(options, call);
  const { status } = response;
  const body = await readJson(response).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof GatewayError)) throw error;
    return undefined;
  });
  if (body === undefined && (status === 200 || status === 404)) return { kind: 'unknown' };
  if (body !== undefined && status === 200) return toStatus(body, told);
  if (body !== undefined && isGone(status, body)) return { kind: 'gone' };
  throw refuse(status, body, told);
};

/** With what is said around them, a failure has at most 500 characters. */
const VENDOR_WORDS_MAX = 380;

const openings = {
  content_filter: 'The video was stopped by the safety filter of the vendor.',
  upstream_error: 'The model could not make the video.',
} as const;

/** A job that failed at the vendor. `words` are the vendor's own, empty for none; `secret` is what they must not show. */
export const toFailure = (code: keyof typeof openings, words: string, secret: string): VideoFailure => {
  const shown = vendorWords(words, secret, VENDOR_WORDS_MAX);
  const told = shown === '' ? '' : ` It says: ${shown}${/[.!?]$/.test(shown) ? '' : '.'}`;
  return { code, message: `${openings[code]}${told} Nothing was charged.` };
};
