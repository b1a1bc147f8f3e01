import * as z from 'zod';
import type { JsonValue } from '../../core/json.ts';
import type { VideoStatus } from '../../core/videos/video-wire.ts';
import type { RefusalContext } from '../refusals.ts';
import type { UpstreamHttp } from '../upstream-http.ts';
import { openVideo, toFailure, VIDEO_ACCEPT } from '../video-answers.ts';
import { isAboutAccount, isFiltered, parseArkRefusal } from './errors.ts';

const URL_CHARACTERS_MAX = 8_192;

/** One too large to be true stays large: it is charged at its bound (BILL-7). */
const wholeCount = z
  .custom<number>((value) => Number.isInteger(value) && Number(value) >= 0)
  .transform((count) => Math.min(count, Number.MAX_SAFE_INTEGER))
  .optional()
  .catch(undefined);

/** https://docs.byteplus.com/en/docs/ModelArk/1521309 */
const task = z.object({ status: z.string() });
const content = z.object({
  content: z.object({ video_url: z.url({ protocol: /^https?$/ }).max(URL_CHARACTERS_MAX) }),
});
const usage = z.object({ usage: z.object({ completion_tokens: wholeCount }) });

interface FileReach {
  readonly http: UpstreamHttp;
  /** Of the vendor itself. */
  readonly baseUrl: string;
}

/** The answer to a look at a task. What it does not say for certain is `unknown`. */
export const toArkStatus = (body: JsonValue, told: RefusalContext, reach: FileReach): VideoStatus => {
  switch (task.safeParse(body).data?.status) {
    case 'queued':
      return { kind: 'queued' };
    case 'running':
      return { kind: 'running', progress: undefined };
    case 'succeeded':
      return succeeded(body, reach);
    case 'failed':
      return failed(body, told);
    case 'cancelled':
      return { kind: 'failed', failure: toFailure('upstream_error', 'Cancelled.', told.secret) };
    case 'expired':
      return { kind: 'failed', failure: toFailure('upstream_error', 'Expired.', told.secret) };
    default:
      return { kind: 'unknown' };
  }
};

/** The address is signed for a day and asks for no key; it is another host's, which must not get ours. */
const succeeded = (body: JsonValue, { http, baseUrl }: FileReach): VideoStatus => {
  const url = content.safeParse(body).data?.content.video_url;
  // Never from https to http.
  if (url === undefined || (url.startsWith('http:') && !baseUrl.startsWith('http:'))) return { kind: 'unknown' };
  const headers = { accept: VIDEO_ACCEPT, 'accept-encoding': 'identity' };
  return {
    kind: 'succeeded',
    tokens: usage.safeParse(body).data?.usage.completion_tokens,
    open: () => openVideo((signal) => http({ url, method: 'GET', headers, body: '', signal })),
  };
};

const failed = (body: JsonValue, told: RefusalContext): VideoStatus => {
  const refusal = parseArkRefusal(body);
  const isOurs = isAboutAccount(refusal);
  if (isOurs) told.notice('vendor_refused_us');
  const code = isFiltered(refusal) ? 'content_filter' : 'upstream_error';
  return { kind: 'failed', failure: toFailure(code, isOurs ? '' : refusal.message, told.secret) };
};
