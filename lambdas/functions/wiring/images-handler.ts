import { createHandler } from '../../http/handler.ts';
import { measureImage } from '../../protocols/image-file.ts';
import { createImageRoutes } from '../../protocols/images/handlers.ts';
import type { Parts } from './dependencies.ts';
import { toIdempotencyPorts, toMediaPorts, toProcessPorts } from './paid-call.ts';
import { toImageWires, toWireOptions } from './wires.ts';

export const createImagesHandler = (parts: Parts, { http, paid } = toProcessPorts(parts)) => {
  const draw = { ...paid, ...toMediaPorts(parts), wires: toImageWires(toWireOptions(parts)), measure: measureImage };
  return createHandler(http, createImageRoutes({ draw, idempotency: toIdempotencyPorts(parts, paid.ledger) }));
};
