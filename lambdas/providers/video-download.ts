import { GatewayError } from '../core/errors/gateway-error.ts';
import type { VideoFile } from '../core/videos/video-wire.ts';
import type { UpstreamResponse } from './upstream-http.ts';

/** Some storages choose by it, and one that does not know the type must not refuse. */
export const VIDEO_ACCEPT = 'video/mp4, */*;q=0.1';

/** A vendor that sends nothing for as long has stopped. */
const SILENCE_MS = 30_000;

/** The time that a vendor may be silent, which runs only while something is awaited from it. */
interface Watch {
  readonly signal: AbortSignal;
  arm(): void;
  rest(): void;
  /** Ends what is under way. */
  cut(): void;
}

/**
 * Begins a download that ends by itself when nothing comes for `silenceMs`, or nobody reads for as long before the first byte: the
 * signal of the poll that found the file is over by then. Throws GatewayError.
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
  new GatewayError('upstream_error', 'The model does not give out the file of the video. Nothing was charged.');

const watchFor = (silenceMs: number): Watch => {
  const late = new AbortController();
  const silent = (): void =>
    late.abort(new GatewayError('upstream_timeout', 'The file of the video stopped coming. Nothing was charged.'));
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
      late.abort(new GatewayError('upstream_error', 'The file of the video is not wanted any more.'));
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
