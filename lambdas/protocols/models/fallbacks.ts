import { allowedFallbacks } from '../../core/catalog/fallbacks.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import type { ModelPorts } from './handlers.ts';

/** GET /api/models/{id}/fallbacks (CAT-3): what may be named as a reserve for this model. Other models than text have none. */
export const createListFallbacks =
  ({ catalog, clock }: ModelPorts): RouteHandler =>
  async ({ route }) => {
    const id = route?.params.id ?? '';
    const nowMs = clock.now();
    const model = catalog.find(id, nowMs);
    if (!model) throw new GatewayError('model_not_found', catalog.explainMissing(id, nowMs), { param: 'model' });
    const reserves = model.kind === 'text' ? allowedFallbacks(catalog, model, nowMs) : [];
    return json(200, { object: 'list', model: model.id, data: reserves.map((reserve) => ({ id: reserve.id })) });
  };
