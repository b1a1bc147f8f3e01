import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import type { ImageMediaType } from '../../../../lambdas/core/image-type.ts';
import type { Drawing, ImageCall, ImageFile, ImageReference } from '../../../../lambdas/core/images/image-wire.ts';
import { createOpenaiImageWire } from '../../../../lambdas/providers/openai/images-wire.ts';
import type { UpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { data, image, provider, upstream } from '../../core/catalog/sample-data.ts';
import { type Answer, playVendor } from '../played-vendor.ts';

export { CANARY } from '../played-vendor.ts';

const catalog = loadCatalog(
  data(
    [image({ upstreams: [upstream({ wire: 'openai_images', model: 'vendor-name' })] })],
    [provider(), provider({ id: 'spare' })],
  ),
);

const imageModel = (): ImageModel => {
  const [model] = catalog.entries;
  if (model?.kind !== 'image') throw new Error('the catalog has no image model');
  return model;
};

/** Call for a model that its provider calls `vendor-name`. */
export const imageCall = (changes: Partial<ImageCall> = {}): ImageCall => {
  const model = imageModel();
  const [to] = model.upstreams;
  const [from] = catalog.providers;
  if (!to || !from) throw new Error('the model has no upstream');
  return {
    prompt: 'A cat',
    n: 1,
    size: { kind: 'vendor', pixelsMax: 8_294_400 },
    quality: undefined,
    references: [],
    mask: undefined,
    extras: {},
    endUser: undefined,
    model,
    provider: from,
    upstream: to,
    signal: new AbortController().signal,
    ...changes,
  };
};

export const imageFile = (content: string, mediaType: ImageMediaType = 'image/png'): ImageFile => ({
  mediaType,
  // Part of a larger buffer, as in a form.
  bytes: Buffer.from(`before ${content} behind`).subarray(7, -7),
  width: 1_024,
  height: 1_024,
});

export const referenceTo = (file: ImageFile, param = 'image'): ImageReference => ({ kind: 'file', file, param });

/** The wire with a provider that sends this response, and the requests that it received. */
export const imageWorld = (answer: Answer) => {
  const { options, seen } = playVendor('https://vendor.test/v1', answer);
  const wire = createOpenaiImageWire(options);
  return { ...seen, draw: (changes: Partial<ImageCall> = {}): Promise<Drawing> => wire.draw(imageCall(changes)) };
};

export const wireOver = (http: UpstreamHttp, baseUrl: string) =>
  createOpenaiImageWire({ ...playVendor(baseUrl).options, http });

export const readAll = ({ images }: Drawing): Promise<Uint8Array[]> => Promise.all(images.map(({ read }) => read()));
