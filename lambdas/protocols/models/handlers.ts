import type { Catalog } from '../../core/catalog/catalog.ts';
import { allowedFallbacks } from '../../core/catalog/fallbacks.ts';
import type { Model, TextModel } from '../../core/catalog/schema.ts';
import { textModelOf } from '../../core/catalog/text-model.ts';
import type { Clock } from '../../core/clock.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { MaintenanceState } from '../../core/maintenance.ts';
import { type AllowedModels, refuseOtherModels } from '../../core/paid-call/route-model.ts';
import { type Exchange, json, type RouteHandler } from '../../http/exchange.ts';
import { formatByHeaders } from '../../http/render-error.ts';
import { requireMessagesVersion } from '../messages-version.ts';
import { toEntry, toGoogleModel, toGooglePage, toMessagesModel, toMessagesPage, toOpenAiModel } from './shapes.ts';

type NativeProtocol = 'messages' | 'generate_content';

const callableIn = (model: Model, protocol: NativeProtocol): TextModel | undefined => {
  const callable = textModelOf(model);
  return callable?.protocols.includes(protocol) ? callable : undefined;
};

/**
 * Models that the provider's SDK can call. The SDK cannot call models of other formats, so they are not listed (CAT-7).
 */
export const listCallable = (
  catalog: Catalog,
  protocol: NativeProtocol,
  nowMs: number,
  allowed?: AllowedModels,
): readonly TextModel[] => listAllowed(catalog, nowMs, allowed).flatMap((model) => callableIn(model, protocol) ?? []);

/** Models that the API key can call (KEY-8). */
const listAllowed = (catalog: Catalog, nowMs: number, allowed: AllowedModels): readonly Model[] =>
  catalog.list(nowMs).filter(({ id }) => allowed?.includes(id) ?? true);

const allowedIn = ({ admission }: Exchange): AllowedModels => admission?.key.models;

interface WantedModel {
  readonly id: string;
  readonly nowMs: number;
  readonly allowed?: AllowedModels;
}

/** Returns the model with this id. Throws `model_not_found` and `model_not_allowed`. */
export const findCallable = (
  catalog: Catalog,
  protocol: NativeProtocol,
  { id, nowMs, allowed }: WantedModel,
): TextModel => {
  const model = catalog.find(id, nowMs);
  if (model) refuseOtherModels(model, allowed);
  const callable = model && callableIn(model, protocol);
  if (callable) return callable;
  const message = model
    ? `The model "${model.id}" is not available in this format. Use a protocol that GET /api/models lists for it.`
    : catalog.explainMissing(id, nowMs, protocol);
  throw new GatewayError('model_not_found', message, { param: 'model' });
};

export interface ModelDependencies {
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/**
 * GET /v1/models (CAT-1): enabled catalog entries of every kind, without aliases. Clients of the messages format and of
 * generate-content get their provider's shape, in pages, with the models of that format (CAT-7).
 */
export const createListModels =
  ({ catalog, clock }: ModelDependencies): RouteHandler =>
  async (exchange) => {
    const { headers, queryStringParameters: query = {} } = exchange.event;
    const nowMs = clock.now();
    const allowed = allowedIn(exchange);
    const format = formatByHeaders(headers);
    if (format === 'generate_content')
      return json(200, toGooglePage(listCallable(catalog, 'generate_content', nowMs, allowed), query));
    if (format === 'plain') {
      const data = listAllowed(catalog, nowMs, allowed).map((model) => toOpenAiModel(catalog, model, nowMs));
      return json(200, { object: 'list', data, total_count: data.length, links: { next: null } });
    }
    requireMessagesVersion(headers);
    return json(200, toMessagesPage(listCallable(catalog, 'messages', nowMs, allowed), query));
  };

/** GET /v1/models/{id} (CAT-7). */
export const createGetModel =
  ({ catalog, clock }: ModelDependencies): RouteHandler =>
  async (exchange) => {
    const { route, event } = exchange;
    const { headers } = event;
    const id = route?.params.id ?? '';
    const nowMs = clock.now();
    const allowed = allowedIn(exchange);
    const format = formatByHeaders(headers);
    if (format === 'generate_content') {
      return json(200, toGoogleModel(findCallable(catalog, 'generate_content', { id, nowMs, allowed })));
    }
    if (format === 'messages') {
      requireMessagesVersion(headers);
      return json(200, toMessagesModel(findCallable(catalog, 'messages', { id, nowMs, allowed })));
    }
    const model = catalog.find(id, nowMs);
    if (!model) throw new GatewayError('model_not_found', catalog.explainMissing(id, nowMs), { param: 'model' });
    refuseOtherModels(model, allowed);
    return json(200, toOpenAiModel(catalog, model, nowMs));
  };

/** GET /v1beta/models (CAT-7): the models of generate-content, in Google's shape. */
export const createListGoogleModels =
  ({ catalog, clock }: ModelDependencies): RouteHandler =>
  async (exchange) => {
    const { queryStringParameters: query = {} } = exchange.event;
    return json(200, toGooglePage(listCallable(catalog, 'generate_content', clock.now(), allowedIn(exchange)), query));
  };

/** GET /v1beta/models/{id} (CAT-7). */
export const createGetGoogleModel =
  ({ catalog, clock }: ModelDependencies): RouteHandler =>
  async (exchange) => {
    const order = { id: exchange.route?.params.id ?? '', nowMs: clock.now(), allowed: allowedIn(exchange) };
    return json(200, toGoogleModel(findCallable(catalog, 'generate_content', order)));
  };

/** GET /api/models (CAT-2): the prices that each route charges, as decimal strings, with their days and conditions. */
export const createListPrices =
  ({ catalog, clock }: ModelDependencies): RouteHandler =>
  async () => {
    const nowMs = clock.now();
    return json(200, { object: 'list', data: catalog.list(nowMs).map((model) => toEntry(catalog, model, nowMs)) });
  };

export interface HealthDependencies {
  /** Returns a code for each part that does not work. Undefined if the platform monitors the parts. */
  readonly problems?: (() => Promise<readonly string[]>) | undefined;
  readonly maintenance: () => MaintenanceState | Promise<MaintenanceState>;
}

/** GET /health (GEN-10). Maintenance is 200, because the gateway works as its operator wants. */
export const createGetHealth =
  ({ problems, maintenance }: HealthDependencies): RouteHandler =>
  async () => {
    const found = problems ? await problems() : [];
    if (found.length > 0) return json(503, { status: 'degraded', problems: found });
    return json(200, { status: (await maintenance()) === 'off' ? 'ok' : 'maintenance' });
  };

/** GET /api/models/{id}/fallbacks (CAT-3): the allowed fallback models of this model. Only text models have any. */
export const createListFallbacks =
  ({ catalog, clock }: ModelDependencies): RouteHandler =>
  async ({ route }) => {
    const id = route?.params.id ?? '';
    const nowMs = clock.now();
    const model = catalog.find(id, nowMs);
    if (!model) throw new GatewayError('model_not_found', catalog.explainMissing(id, nowMs), { param: 'model' });
    const reserves = model.kind === 'text' ? allowedFallbacks(catalog, model, nowMs) : [];
    return json(200, { object: 'list', model: model.id, data: reserves.map((reserve) => ({ id: reserve.id })) });
  };
