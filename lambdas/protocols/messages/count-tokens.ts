import { type CountPorts, countTokens } from '../../core/text/count-tokens.ts';
import { json, type RouteHandler } from '../../http/exchange.ts';
import { alternativesIn } from '../alternatives.ts';
import { requireMessagesVersion } from '../messages-version.ts';
import { noKeys, readPaidHeaders } from '../paid-headers.ts';
import { toCountOrder } from './request.ts';

/** POST /v1/messages/count_tokens. */
export const createCountMessageTokens =
  (ports: CountPorts<number>): RouteHandler =>
  async ({ event, body, summary }) => {
    if (!body) throw new Error('a request to count without a body');
    readPaidHeaders(event.headers, noKeys, false);
    requireMessagesVersion(event.headers);
    const { modelId, prepare } = toCountOrder(body.json, alternativesIn(ports.catalog, 'messages', ports.clock.now()));
    const tokens = await countTokens(ports, {
      modelId,
      protocol: 'messages',
      wire: 'anthropic_messages',
      prepare: (model) => {
        summary.model = model.id;
        return prepare(model);
      },
    });
    return json(200, { input_tokens: tokens });
  };
