import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import type { ImageMediaType } from '../../../../lambdas/core/images/image-type.ts';
import type { Drawing, ImageCall, ImageFile, ImageReference } from '../../../../lambdas/core/images/image-wire.ts';
import { createOpenaiImageWire } from '../../../../lambdas/providers/openai/images-wire.ts';
import type { UpstreamHttp, UpstreamRequest } from '../../../../lambdas/providers/upstream-http.ts';
import { data, image, provider, upstream } from '../../core/catalog/sample-data.ts';
import { inPieces } from './stream-reading.ts';

export const CANARY = 'sk-vendor-canary';

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

/** What a client asked of a model that its vendor knows as `vendor-name`. */
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
  // Inside of something larger, as the parts of a form are.
  bytes: Buffer.from(`before ${content} behind`).subarray(7, -7),
  width: 1_024,
  height: 1_024,
});

export const referenceTo = (file: ImageFile, param = 'image'): ImageReference => ({ kind: 'file', file, param });

export interface Answer {
  readonly status?: number;
  /** An object is sent as JSON. */
  readonly body: object | string | AsyncIterable<Uint8Array>;
}

/** The wire, and what a vendor that gives this answer was sent by it. */
export const imageWorld = ({ status = 200, body }: Answer) => {
  const requests: UpstreamRequest[] = [];
  const notices: string[] = [];
  const http: UpstreamHttp = async (request) => {
    requests.push(request);
    return { status, headers: {}, body: bytesOf(body), discard: () => undefined };
  };
  const wire = wireOver(http, 'https://vendor.test/v1', notices);
  const draw = (changes: Partial<ImageCall> = {}): Promise<Drawing> => wire.draw(imageCall(changes));
  return { requests, notices, draw };
};

export const wireOver = (http: UpstreamHttp, baseUrl: string, notices: string[] = []) =>
  createOpenaiImageWire({
    http,
    access: () => ({ baseUrl, key: CANARY }),
    notice: (notice, from) => notices.push(`${notice} ${from}`),
    now: () => 0,
    random: () => 0,
  });

const bytesOf = (body: Answer['body']): AsyncIterable<Uint8Array> => {
  if (typeof body === 'string') return inPieces(body);
  return Symbol.asyncIterator in body ? body : inPieces(JSON.stringify(body));
};

export const readAll = ({ images }: Drawing): Promise<Uint8Array[]> => Promise.all(images.map(({ read }) => read()));
