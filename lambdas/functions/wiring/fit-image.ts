import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { FitImage, FitTask } from '../../core/images/image-wire.ts';

/** Largest image that is decoded or written: that of any provider. It takes about 0.5 GB, as measured. */
const PIXELS_MAX = 4_096 ** 2;

/** Longest time for an image, with its wait for others. The largest one takes about 5 s of CPU. */
const WAIT_MS_MAX = 60_000;

const JPEG_QUALITY = 95;

/** Marks a thread that runs this file to fit one image. */
const ROLE = 'fit-image';

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Fits one image at a time, in a thread of its own. The thread ends with its image: its memory is freed, and a file that
 * breaks the codec breaks nothing else. Returns undefined if the image cannot be fitted, or not before the deadline and
 * within 60 s.
 */
export const fitImage: FitImage = async (task, deadline) => {
  if (deadline.aborted) return undefined;
  const signal = AbortSignal.any([deadline, AbortSignal.timeout(WAIT_MS_MAX)]);
  if ([task.from, task.to].some(({ width, height }) => width * height > PIXELS_MAX)) return undefined;
  const turn = lastTurn.then(() => inThread(task, signal));
  lastTurn = turn;
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  return Promise.race([turn, aborted]);
};

/** Never rejects. */
const inThread = (task: FitTask, signal: AbortSignal): Promise<Uint8Array | undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    // The thread needs no secrets of the environment.
    const thread = new Worker(new URL(import.meta.url), { workerData: { role: ROLE, task }, env: {}, execArgv: [] });
    const end = (bytes?: unknown): void => {
      signal.removeEventListener('abort', stop);
      resolve(bytes instanceof Uint8Array ? bytes : undefined);
      void thread.terminate();
    };
    const stop = (): void => end();
    signal.addEventListener('abort', stop, { once: true });
    thread.once('message', end).once('error', stop).once('exit', stop);
  });

/** Centered part of an image with the shape of `to`. If only a few pixels are too many, it has the size of `to`. */
export const regionOf = ({ from, to }: Pick<FitTask, 'from' | 'to'>) => {
  const surplus = [from.width - to.width, from.height - to.height];
  const isRounded = surplus.every((pixels) => pixels >= 0 && pixels < ROUNDING);
  const cut = (edge: number, whole: number): number => Math.max(1, Math.min(edge, Math.round(whole)));
  const width = isRounded ? to.width : cut(from.width, (from.height * to.width) / to.height);
  const height = isRounded ? to.height : cut(from.height, (from.width * to.height) / to.width);
  return { left: (from.width - width) >> 1, top: (from.height - height) >> 1, width, height };
};

/** Largest step of a provider's sizes. A difference below it comes from rounding. */
const ROUNDING = 16;

/** Throws for an image that the codec cannot read. */
const changePixels = async ({ bytes, mediaType, from, to }: FitTask): Promise<Uint8Array> => {
  const { crop, PhotonImage, resize, SamplingFilter } = await import('@cf-wasm/photon');
  const image = PhotonImage.new_from_byteslice(bytes);
  const { left, top, width, height } = regionOf({ from, to });
  const isWhole = width === from.width && height === from.height;
  const region = isWhole ? image : crop(image, left, top, left + width, top + height);
  const isExact = width === to.width && height === to.height;
  const exact = isExact ? region : resize(region, to.width, to.height, SamplingFilter.CatmullRom);
  if (mediaType === 'image/jpeg') return exact.get_bytes_jpeg(JPEG_QUALITY);
  return mediaType === 'image/webp' ? exact.get_bytes_webp() : exact.get_bytes();
};

const isOwnThread = (data: unknown): data is { readonly task: FitTask } =>
  typeof data === 'object' && data !== null && 'role' in data && data.role === ROLE;

if (isOwnThread(workerData)) parentPort?.postMessage(await changePixels(workerData.task));
