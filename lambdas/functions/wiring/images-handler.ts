import { createHandler } from '../../http/handler.ts';
import { measureImage } from '../../protocols/image-file.ts';
import { createImageRoutes } from '../../protocols/images/handlers.ts';
import { toHttpPorts } from './http-ports.ts';
import { toMediaPorts } from './media-ports.ts';
import { toIdempotencyPorts, toPaidCallPorts } from './paid-call-ports.ts';
import type { Parts } from './parts.ts';
import { toImageWires, toWireOptions } from './wires.ts';

export const createImagesHandler = (parts: Parts, http = toHttpPorts(parts)) => {
  const paid = toPaidCallPorts(parts);
  const draw = { ...paid, ...toMediaPorts(parts), wires: toImageWires(toWireOptions(parts)), measure: measureImage };
  return createHandler(http, createImageRoutes({ draw, idempotency: toIdempotencyPorts(parts, paid.ledger) }));
};
