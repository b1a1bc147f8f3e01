import { catalogData } from '../../../catalog/index.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../lambdas/core/catalog/schema.ts';
import type { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { Drawing, ImageCall, ImageReference, ImageWire } from '../../../lambdas/core/images/image-wire.ts';
import type { ResultDownload } from '../../../lambdas/providers/result-download.ts';
import type { WireOptions } from '../../../lambdas/providers/vendor-call.ts';
import { type Answer, playVendor } from './played-vendor.ts';

const catalog = loadCatalog(catalogData);

export const shipped = (id: string): ImageModel => {
  const model = catalog.entries.find((entry) => entry.id === id);
  if (model?.kind !== 'image') throw new Error(`${id} is not an image model`);
  return model;
};

/** Call for a square image, to the first upstream of a model in the shipped catalog. */
const toShippedCall = (modelId: string, signal: AbortSignal, changes: Partial<ImageCall> = {}): ImageCall => {
  const model = shipped(modelId);
  const [upstream] = model.upstreams;
  const provider = catalog.providers.find(({ id }) => id === upstream?.provider);
  if (!upstream || !provider) throw new Error('no upstream for the model');
  return {
    prompt: 'A cat',
    n: 1,
    size: { kind: 'pixels', width: 2048, height: 2048, asked: '2048x2048', tier: undefined },
    quality: undefined,
    references: [],
    mask: undefined,
    extras: {},
    endUser: 'user-7',
    model,
    provider,
    upstream,
    signal,
    ...changes,
  };
};

export type Options = WireOptions & { readonly download: ResultDownload; readonly pollMs: () => number };

interface WorldOptions {
  readonly modelId: string;
  readonly baseUrl: string;
  readonly create: (options: Options) => ImageWire;
}

/**
 * Simulated provider of the shipped catalog with a sequence of responses, and the requests that it received. The last
 * response repeats.
 */
export const drawingWorld = (
  { modelId, baseUrl, create }: WorldOptions,
  ...answers: readonly (Answer | GatewayError)[]
) => {
  const { options, seen } = playVendor(baseUrl, ...answers);
  const { requests } = seen;
  const downloads: string[] = [];
  const late = new AbortController();
  const wire = create({
    ...options,
    download: async ({ url, baseUrl: base, signal }) => {
      signal.throwIfAborted();
      downloads.push(`${url} for ${base}`);
      return Buffer.from(`bytes of ${url}`);
    },
    pollMs: () => 0,
  });
  const toCall = (changes: Partial<ImageCall> = {}): ImageCall => toShippedCall(modelId, late.signal, changes);
  return {
    ...seen,
    downloads,
    late,
    check: async (changes: Partial<ImageCall> = {}): Promise<void> => wire.check?.(toCall(changes), shipped(modelId)),
    draw: (changes: Partial<ImageCall> = {}): Promise<Drawing> => wire.draw(toCall(changes)),
    /** Body of the first request. */
    sent: (): unknown => JSON.parse(requests[0]?.body ?? ''),
  };
};

export const pngFile = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20, 7)]);

export const fileReference = (param: string): ImageReference => ({
  kind: 'file',
  param,
  file: { mediaType: 'image/png', bytes: pngFile, width: 3, height: 2 },
});

export const urlReference = (url: string, param = 'image'): ImageReference => ({ kind: 'url', url, param });

export const bytesOf = async ({ images }: Drawing): Promise<readonly string[]> =>
  Promise.all(images.map(async ({ read }) => Buffer.from(await read()).toString()));
