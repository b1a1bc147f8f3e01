import type { Wire } from '../../core/catalog/providers.ts';
import type { JsonObject } from '../../core/json.ts';
import { type CountPorts, countTokens } from '../../core/text/count-tokens.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { alternativesIn } from '../alternatives.ts';
import { refuseIgnored } from '../ignored-fields.ts';
import { noKeys, readPaidHeaders } from '../paid-headers.ts';
import { ignoredHeaders } from '../receipt-headers.ts';
import { requireJson } from './framing.ts';
import { modelIdOf } from './handler.ts';
import { toCountOrder } from './request.ts';

/** Those whose vendor counts in this protocol. */
const wires: readonly Wire[] = ['gemini_generate_content', 'gemini_generate_content_image'];

/** POST /v1beta/models/{model}:countTokens. Answers with what the vendor said. */
export const createCountContentTokens =
  (ports: CountPorts<JsonObject>): RouteHandler =>
  async (exchange) => {
    const { event, body, summary } = exchange;
    if (!body) throw new Error('a request to count without a body');
    const { requireParameters } = readPaidHeaders(event.headers, noKeys, false);
    requireJson(event);
    const modelId = modelIdOf(exchange);
    const nowMs = ports.clock.now();
    const alternatives = alternativesIn(ports.catalog, 'generate_content', nowMs);
    const upstreams = ports.catalog.find(modelId, nowMs)?.upstreams ?? [];
    const order = toCountOrder({ modelId, json: body.json }, alternatives);
    let ignored: readonly string[] = [];
    const counted = await countTokens(ports, {
      modelId,
      protocol: 'generate_content',
      wire: wires.find((name) => upstreams.some(({ wire }) => wire === name)) ?? 'gemini_generate_content',
      prepare: (model) => {
        summary.model = model.id;
        const prepared = order.prepare(model);
        ({ ignored } = prepared);
        if (requireParameters) refuseIgnored(ignored, model.id);
        return prepared.body;
      },
    });
    return json(200, counted, ignoredHeaders(ignored));
  };
