import type { Catalog } from '../../core/catalog/catalog.ts';
import { type ListedPrice, toListedPrice } from '../../core/catalog/rates.ts';
import type { Model } from '../../core/catalog/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { formatByHeaders } from '../../http/client-format.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { requireMessagesVersion } from '../messages-version.ts';
import { toWireName } from '../price-names.ts';
import { findCallable, listCallable } from './callable.ts';
import { toGoogleModel, toGooglePage } from './google-shape.ts';
import { toMessagesModel, toMessagesPage } from './messages-shape.ts';

export interface ModelPorts {
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** https://platform.openai.com/docs/api-reference/models/object */
const toModel = ({ id, created, ownedBy }: Model) => ({ id, object: 'model', created, owned_by: ownedBy });

/**
 * GET /v1/models (CAT-1): enabled entries of every kind, without aliases. Clients of the messages format and of generate-content
 * get their own vendor's shape, in pages, with the models that format has (CAT-7).
 */
export const createListModels =
  ({ catalog, clock }: ModelPorts): RouteHandler =>
  async ({ event: { headers, queryStringParameters: query = {} } }) => {
    const nowMs = clock.now();
    const format = formatByHeaders(headers);
    if (format === 'generate_content')
      return json(200, toGooglePage(listCallable(catalog, 'generate_content', nowMs), query));
    if (format === 'plain') return json(200, { object: 'list', data: catalog.list(nowMs).map(toModel) });
    requireMessagesVersion(headers);
    return json(200, toMessagesPage(listCallable(catalog, 'messages', nowMs), query));
  };

/** GET /v1/models/{id} (CAT-7). */
export const createGetModel =
  ({ catalog, clock }: ModelPorts): RouteHandler =>
  async ({ route, event: { headers } }) => {
    const id = route?.params.id ?? '';
    const nowMs = clock.now();
    const format = formatByHeaders(headers);
    if (format === 'generate_content') {
      return json(200, toGoogleModel(findCallable(catalog, 'generate_content', { id, nowMs })));
    }
    if (format === 'messages') {
      requireMessagesVersion(headers);
      return json(200, toMessagesModel(findCallable(catalog, 'messages', { id, nowMs })));
    }
    const model = catalog.find(id, nowMs);
    if (!model) throw new GatewayError('model_not_found', catalog.explainMissing(id, nowMs), { param: 'model' });
    return json(200, toModel(model));
  };

/** GET /v1beta/models (CAT-7): the models that generate content, in Google's shape. */
export const createListGoogleModels =
  ({ catalog, clock }: ModelPorts): RouteHandler =>
  async ({ event: { queryStringParameters: query = {} } }) =>
    json(200, toGooglePage(listCallable(catalog, 'generate_content', clock.now()), query));

/** GET /v1beta/models/{id} (CAT-7). */
export const createGetGoogleModel =
  ({ catalog, clock }: ModelPorts): RouteHandler =>
  async ({ route }) => {
    const order = { id: route?.params.id ?? '', nowMs: clock.now() };
    return json(200, toGoogleModel(findCallable(catalog, 'generate_content', order)));
  };

/** GET /api/models (CAT-2): every price as a decimal string, with its days and length tiers. */
export const createListPrices =
  ({ catalog, clock }: ModelPorts): RouteHandler =>
  async () =>
    json(200, { object: 'list', data: catalog.list(clock.now()).map(toEntry) });

const toEntry = (model: Model) => ({
  id: model.id,
  kind: model.kind,
  owned_by: model.ownedBy,
  protocols: model.protocols,
  prices: model.prices.map((row) => toPrice(toListedPrice(row))),
  limits: limitsOf(model),
  capabilities: 'capabilities' in model ? snakeCased(model.capabilities) : {},
  reasoning: { levels: model.kind === 'text' ? (model.reasoning?.levelsUi ?? []) : [] },
  lifecycle: { shutdown_date: model.lifecycle.shutdownDate, replacement: model.lifecycle.replacement ?? null },
});

const limitsOf = (model: Model): object => {
  if ('limits' in model) return snakeCased(model.limits);
  switch (model.kind) {
    case 'video': {
      const { seconds, sizes, inputReference } = model.video;
      return { seconds, sizes, input_reference: inputReference };
    }
    case 'image': {
      const { size, nMax, references, promptCharactersMax } = model.image;
      const { max, fields, form } = references;
      const shown = { size: snakeCased(size), n_max: nMax, references: { max, fields, form } };
      return { ...shown, prompt_characters_max: promptCharactersMax };
    }
    case 'speech':
      return snakeCased(model.speech);
    case 'transcription':
      return { formats: model.transcription.formats };
    default:
      return {};
  }
};

const toPrice = ({ unit, from, until, rates, tiers, byTier, bySize, byPixels, imageTokensByTier }: ListedPrice) => ({
  unit,
  from,
  until,
  ...snakeCased(rates),
  tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...snakeCased(tier.rates) })),
  ...(byTier && { by_tier: byTier }),
  ...(bySize && { by_size: bySize }),
  ...(byPixels && {
    by_pixels: byPixels.map(({ maxPixels, perImage }) => ({ max_pixels: maxPixels, per_image: perImage })),
  }),
  ...(imageTokensByTier && { image_tokens_by_tier: imageTokensByTier }),
});

const snakeCased = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [toWireName(name), member]));

export interface HealthPorts {
  /** Returns a code for each part that does not work. Undefined where the platform watches them. */
  readonly problems?: (() => Promise<readonly string[]>) | undefined;
}

/** GET /health (GEN-10). */
export const createGetHealth =
  ({ problems }: HealthPorts): RouteHandler =>
  async () => {
    const found = problems ? await problems() : [];
    return found.length === 0 ? json(200, { status: 'ok' }) : json(503, { status: 'degraded', problems: found });
  };
