import type { JsonObject } from '../../core/json.ts';
import { type CountPorts, countTokens } from '../../core/text/count-tokens.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { alternativesIn } from '../alternatives.ts';
import { refuseIgnored } from '../ignored-fields.ts';
import { requireMessagesVersion } from '../messages-version.ts';
import { noKeys, readPaidHeaders } from '../paid-headers.ts';
import { ignoredHeaders } from '../receipt-headers.ts';
import { BETA_HEADER } from './betas.ts';
import { toCountOrder } from './request.ts';

/** POST /v1/messages/count_tokens. */
export const createCountMessageTokens =
  (ports: CountPorts<JsonObject>): RouteHandler =>
  async ({ event, body, summary }) => {
    if (!body) throw new Error('a request to count without a body');
    const { requireParameters } = readPaidHeaders(event.headers, noKeys, false);
    requireMessagesVersion(event.headers);
    const alternatives = alternativesIn(ports.catalog, 'messages', ports.clock.now());
    const order = toCountOrder({ json: body.json, betas: event.headers[BETA_HEADER] }, alternatives);
    let ignored: readonly string[] = [];
    const counted = await countTokens(ports, {
      modelId: order.modelId,
      protocol: 'messages',
      wire: 'anthropic_messages',
      headers: order.headers,
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
