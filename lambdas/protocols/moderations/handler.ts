import { type ModerationPorts, moderate } from '../../core/inputs/moderate.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { createInputRoute } from '../input-route.ts';
import { toModerationOrder } from './request.ts';

/** POST /v1/moderations. */
export const createModerations = (ports: ModerationPorts): RouteHandler =>
  createInputRoute({
    toOrder: ({ json }) => toModerationOrder(json, defaultModelId(ports)),
    answer: (caller, order) => moderate(ports, caller, order),
  });

/** The first one in the catalog. Empty if it has none. */
const defaultModelId = ({ catalog, ledger }: ModerationPorts): string =>
  catalog.list(ledger.clock.now()).find(({ kind }) => kind === 'moderation')?.id ?? '';
