import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { ByteRange } from '../../core/videos/dependencies.ts';
import { fileOf, openFile, type ReadDependencies, readVideo } from '../../core/videos/read-videos.ts';
import { admissionOf, type RouteHandler } from '../../http/exchange.ts';
import { type RelayDependencies, relayedAnswer } from '../relayed-answer.ts';

type Headers = Readonly<Record<string, string | undefined>>;

const oneRange = /^bytes=(\d*)-(\d*)$/i;

/**
 * Requested part of a file (VID-4, RFC 9110, 14). Undefined means the whole file: without a range, with several, with
 * an unreadable one, or if the client has a different file.
 */
export const readRange = (
  { range = '', 'if-range': ifRange }: Headers,
  { bytes, etag }: { readonly bytes: number; readonly etag: string },
): ByteRange | 'unsatisfiable' | undefined => {
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  const [, from, to] = oneRange.exec(range) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  if (from === '') return toRange(bytes - Math.min(Number(to), bytes), bytes - 1, bytes);
  if (to !== '' && Number(to) < Number(from)) return undefined;
  return toRange(Number(from), to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1), bytes);
};

const toRange = (first: number, last: number, bytes: number): ByteRange | 'unsatisfiable' =>
  first < bytes ? { first, last } : 'unsatisfiable';

export interface ContentDependencies extends ReadDependencies, RelayDependencies {}

/** GET /v1/videos/{id}/content (VID-4): the MP4, or one range of it. */
export const createGetVideoContent =
  (deps: ContentDependencies): RouteHandler =>
  async (exchange) => {
    const { event, route, summary } = exchange;
    refuseVariant(event.queryStringParameters?.variant);
    const job = await readVideo(deps, admissionOf(exchange).accountId, route?.params.id ?? '');
    const file = fileOf(job, deps.now());
    const { bytes, sha256 } = file;
    const etag = `"${sha256}"`;
    // https://www.rfc-editor.org/rfc/rfc9110#section-14.2: only GET has ranges.
    const isHead = event.requestContext.http.method === 'HEAD';
    const range = isHead ? undefined : readRange(event.headers, { bytes, etag });
    if (range === 'unsatisfiable') throw unsatisfiable(bytes);
    const { first, last } = range ?? { first: 0, last: bytes - 1 };
    const source = await openFile(deps, file, range);
    summary.model = job.modelId;
    return relayedAnswer(deps, exchange, {
      statusCode: range ? 206 : 200,
      headers: {
        'content-type': 'video/mp4',
        'accept-ranges': 'bytes',
        etag,
        'cache-control': 'private',
        ...(range && { 'content-range': `bytes ${first}-${last}/${bytes}` }),
      },
      bytes: source,
      length: last - first + 1,
    });
  };

/** Rejects thumbnails and sprite sheets, which the provider's own API has. */
const refuseVariant = (variant: string | undefined): void => {
  if (!variant || variant === 'video') return;
  throw invalidRequest('variant', 'variant: only the video is stored. Remove the parameter.');
};

const unsatisfiable = (bytes: number): GatewayError =>
  new GatewayError(
    'range_not_satisfiable',
    `range: the video has ${bytes} bytes, and none of them is in this range. Request a range within them.`,
    {
      param: 'range',
      headers: { 'content-range': `bytes */${bytes}` },
    },
  );
