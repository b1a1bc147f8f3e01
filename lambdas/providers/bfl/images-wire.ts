import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Provider } from '../../core/catalog/schema.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import {
  type ChosenSize,
  type Drawing,
  type ImageAsk,
  type ImageCall,
  type ImageReference,
  ImagesWithheld,
  type ImageWire,
} from '../../core/images/image-wire.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { readJson } from '../read-json.ts';
import { filtered, type RefusalContext, unreadable } from '../refusals.ts';
import { createResultDownload, type ResultDownload } from '../result-download.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { toBflError } from './errors.ts';

interface BflOptions extends WireOptions {
  readonly download?: ResultDownload;
  readonly pollMs?: PollWait;
}

/** A job that the provider started must not count as refused. */
const created: ReadonlySet<number> = new Set([200, 201, 202]);

/**
 * The provider's jobs: one paid creation, then free polls of the URL in its response.
 * https://docs.bfl.ai/api-reference/models/generate-or-edit-an-image-with-flux2-%5Bmax%5D.md
 */
export const createBflWire = (options: BflOptions): ImageWire => {
  const { download = createResultDownload(), pollMs = growingWait } = options;
  return {
    check: refuseUnknownSize,
    draw: async (call): Promise<Drawing> => {
      const { provider, upstream, signal } = call;
      const { baseUrl } = options.access(provider.id);
      const { response, refusalContext } = await callVendor(options, {
        provider,
        path: `/v1/${upstream.model}`,
        body: toBflRequest(call),
        streamed: false,
        accepts: (status) => created.has(status),
        signal,
        refuse: toBflError,
      });
      const job = creation.safeParse(await readJson(response)).data;
      if (!job) throw unreadable();
      const pollUrl = toPollUrl(job.polling_url, provider, baseUrl);
      if (!pollUrl) throw untrusted();
      const url = await pollImage(options, { provider, pollUrl, refusalContext, signal }, pollMs);
      return {
        images: [{ read: () => download({ url, baseUrl, signal }) }],
        usage: undefined,
        milliMegapixels: toMilliMegapixels(job),
      };
    },
  };
};

/** Accepts a size only in pixels, or none. Throws `invalid_size`. */
const refuseUnknownSize = ({ size }: ImageAsk): void => {
  if (size.kind !== 'tier') return;
  throw new GatewayError(
    'invalid_size',
    `size: "${size.tier}" is not a size of this model. Use pixels such as "1024x1024".`,
    {
      param: 'size',
    },
  );
};

const toBflRequest = ({ prompt, size, references, extras }: ImageCall): JsonObject => ({
  prompt,
  ...toEdges(size),
  ...Object.fromEntries(references.map((reference, index) => [fieldAt(index), toInputImage(reference)])),
  ...extras,
});

const toEdges = (size: ChosenSize): JsonObject =>
  size.kind === 'pixels' ? { width: size.width, height: size.height } : {};

const fieldAt = (index: number): string => (index === 0 ? 'input_image' : `input_image_${index + 1}`);

/**
 * URL, or base64 without a prefix:
 * https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md
 */
const toInputImage = (reference: ImageReference): string =>
  reference.kind === 'url' ? reference.url : Buffer.from(reference.file.bytes).toString('base64');

const megapixels = z.number().nonnegative().optional().catch(undefined);

/** Ignores the reported cost, which is in the provider's own unit and not the client's price. */
const creation = z.object({ polling_url: z.string(), input_mp: megapixels, output_mp: megapixels });

const toMilliMegapixels = ({ input_mp: reference, output_mp: output }: z.infer<typeof creation>) =>
  reference === undefined || output === undefined
    ? undefined
    : { output: toMilli(output), reference: toMilli(reference) };

/** Rounds to a millionth first, because 1.1 has no exact machine form. Then rounds up to thousandths. */
const toMilli = (count: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(Math.round(count * 1_000_000_000) / 1_000_000));

const untrusted = (): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The provider returned a URL of another host. Nothing was charged. Retry the request.',
  );

/** Returns the wait in ms before the poll with the number `round`, counted from 0. */
type PollWait = (round: number) => number;

const FIRST_WAIT_MS = 500;

const WAIT_MS_MAX = 2_000;

const GROWTH = 1.25;

export const growingWait: PollWait = (round) => Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * GROWTH ** round);

/**
 * Number of consecutive polls without the job after which it counts as lost. A job may still be unknown shortly after
 * its creation.
 */
const MISSING_MAX = 5;

interface Job {
  readonly provider: Provider;
  /** Checked by `toPollUrl`, because the provider key is sent there. */
  readonly pollUrl: URL;
  readonly refusalContext: RefusalContext;
  readonly signal: AbortSignal;
}

/**
 * Poll URL, if the provider key can be sent there. Undefined otherwise, so that the provider's response alone never
 * decides where the provider key goes.
 */
const toPollUrl = (text: string, provider: Provider, baseUrl: string): URL | undefined => {
  const url = URL.parse(text);
  const base = URL.parse(baseUrl);
  if (!url || url.username || url.password) return undefined;
  if (base && url.host === base.host && url.protocol === base.protocol) return url;
  const hosts = provider.kind === 'bfl' ? provider.trustedPollHosts : [];
  const isTrusted = url.protocol === 'https:' && url.port === '' && hosts.some((host) => fits(url.hostname, host));
  return isTrusted ? url : undefined;
};

const fits = (hostname: string, allowed: string): boolean =>
  allowed.startsWith('*.') ? hostname.endsWith(allowed.slice(1)) : hostname === allowed;

/** Result of one poll. `unknown` has no information, so the job is polled again. */
type Look =
  | { readonly kind: 'unknown' | 'missing' }
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'failed'; readonly error: GatewayError };

/**
 * Polls until the job has ended, and returns the URL of its image. Polls are free, so failed ones are repeated until
 * the signal's end. Throws GatewayError, or the signal's reason.
 */
const pollImage = async (options: WireOptions, job: Job, waitMs: PollWait): Promise<string> => {
  let missing = 0;
  for (let round = 0; ; round += 1) {
    await pause(waitMs(round), job.signal);
    const look = await lookAt(options, job);
    if (look.kind === 'ready') return look.url;
    if (look.kind === 'failed') throw look.error;
    missing = look.kind === 'missing' ? missing + 1 : 0;
    if (missing >= MISSING_MAX) throw lost();
  }
};

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
};

const lookAt = async ({ http }: WireOptions, { provider, pollUrl, refusalContext, signal }: Job): Promise<Look> => {
  const { header } = provider.credential;
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', ...provider.headers };
  try {
    const response = await http({
      url: pollUrl.href,
      method: 'GET',
      headers: { ...headers, [header.toLowerCase()]: refusalContext.secret },
      body: '',
      signal,
    });
    const { status } = response;
    const body = await readJson(response).catch((error: unknown) => {
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      return undefined;
    });
    return toLook(status, body, refusalContext);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof GatewayError)) throw error;
    return { kind: 'unknown' };
  }
};

const toLook = (status: number, body: JsonValue | undefined, refusalContext: RefusalContext): Look => {
  if (status === 200) return body === undefined ? { kind: 'unknown' } : readResult(body);
  if (status === 404) return { kind: 'missing' };
  if ([401, 402, 403].includes(status)) return { kind: 'failed', error: toBflError(status, body, refusalContext) };
  // A refused poll says nothing about the client's request.
  const mayPass = status === 408 || status === 429 || status >= 500;
  return mayPass ? { kind: 'unknown' } : { kind: 'failed', error: notMade() };
};

/**
 * Values of `status`: https://docs.bfl.ai/api_integration/errors. Two more, `Error` and `Failed`, are known from
 * https://github.com/vercel/ai/tree/main/packages/black-forest-labs
 */
const result = z.object({ status: z.string() });

const sample = z.object({ result: z.object({ sample: z.string().min(1) }) });

const readResult = (body: JsonValue): Look => {
  switch (result.safeParse(body).data?.status) {
    case 'Ready': {
      const url = sample.safeParse(body).data?.result.sample;
      return url === undefined ? { kind: 'failed', error: unreadable() } : { kind: 'ready', url };
    }
    case 'Request Moderated':
      return { kind: 'failed', error: requestFiltered() };
    case 'Content Moderated':
      return { kind: 'failed', error: new ImagesWithheld(filtered(), undefined) };
    case 'Error':
    case 'Failed':
      return { kind: 'failed', error: notMade() };
    case 'Task not found':
      return { kind: 'missing' };
    default:
      return { kind: 'unknown' };
  }
};

const requestFiltered = (): GatewayError =>
  new GatewayError(
    'content_filter',
    'The safety filter of the provider stopped the prompt or an image. Nothing was charged. Change the prompt or the image.',
  );

/**
 * The request can be the cause, such as a reference that the provider cannot open, so the circuit does not count this
 * failure.
 */
const notMade = (): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The provider could not create the image. Nothing was charged. Retry the request.',
    {
      upstreamFailed: false,
    },
  );

const lost = (): GatewayError =>
  new GatewayError('upstream_error', 'The provider lost the image. Nothing was charged. Retry the request.');
