import type { FitImage } from '../../core/images/image-wire.ts';
import type { FetchedImage } from '../../core/text/text-wire.ts';
import { createHandler } from '../../http/handler.ts';
import { measureImage } from '../../protocols/image-file.ts';
import type { FetchImages } from '../../protocols/images/edit-json.ts';
import { createImageRoutes } from '../../protocols/images/handlers.ts';
import { gatherImages } from '../../providers/gather-images.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toImageWires } from './media-wires.ts';
import { toIdempotencyDependencies, toMediaDependencies, toProcessDependencies } from './paid-call.ts';
import { toWireOptions } from './wire-options.ts';

/** The codec is loaded for the first image that needs it. */
const fitImage: FitImage = async (task, signal) => (await import('./fit-image.ts')).fitImage(task, signal);

export const createImagesHandler = (deps: FunctionDependencies, { http, paid } = toProcessDependencies(deps)) => {
  const draw = {
    ...paid,
    ...toMediaDependencies(deps),
    wires: toImageWires(toWireOptions(deps)),
    measure: measureImage,
    fitImage,
  };
  const idempotency = toIdempotencyDependencies(deps, paid.ledger);
  return createHandler(http, createImageRoutes({ draw, idempotency, fetchImages: toFetchImages(deps) }));
};

const toFetchImages =
  ({ fetchImage }: FunctionDependencies): FetchImages =>
  async (images, memory) => {
    const byUrl = new Map<string, FetchedImage>();
    await gatherImages(images, fetchImage, { byUrl, memory });
    return new Map([...byUrl].map(([url, { bytes }]) => [url, bytes]));
  };
