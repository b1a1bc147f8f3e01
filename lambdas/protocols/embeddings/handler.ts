import { type EmbeddingPorts, embed } from '../../core/inputs/embed.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { createInputRoute } from '../input-route.ts';
import { toEmbeddingOrder } from './request.ts';

/** POST /v1/embeddings. */
export const createEmbeddings = (ports: EmbeddingPorts): RouteHandler =>
  createInputRoute({
    toOrder: ({ json }) => toEmbeddingOrder(json),
    answer: (caller, order) => embed(ports, caller, order),
  });
