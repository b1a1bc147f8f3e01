import { createHandler } from '../../http/handler.ts';
import { measureImage } from '../../protocols/image-file.ts';
import { createImageRoutes } from '../../protocols/images/handlers.ts';
import { toMediaPorts } from './media-ports.ts';
import { toIdempotencyPorts } from './paid-call-ports.ts';
import type { Parts } from './parts.ts';
import { toProcessPorts } from './process-ports.ts';
import { toImageWires, toWireOptions } from './wires.ts';

export const createImagesHandler = (parts: Parts, { http, paid } = toProcessPorts(parts)) => {
  const draw = { ...paid, ...toMediaPorts(parts), wires: toImageWires(toWireOptions(parts)), measure: measureImage };
  return createHandler(http, createImageRoutes({ draw, idempotency: toIdempotencyPorts(parts, paid.ledger) }));
};
