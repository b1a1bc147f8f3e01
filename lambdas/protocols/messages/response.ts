import type { JsonObject } from '../../core/json.ts';
import { type CountDependencies, countTokens } from '../../core/text/count-tokens.ts';
import { admissionOf, json, type RouteHandler } from '../../http/exchange.ts';
import { toErrorBody } from '../../http/render-error.ts';
import { alternativesIn } from '../alternatives.ts';
import { refuseIgnored } from '../fields.ts';
import { requireMessagesVersion } from '../messages-version.ts';
import { noKeys, readPaidHeaders } from '../paid-request.ts';
import { ignoredHeaders } from '../paid-response.ts';
import type { StreamContext, StreamRenderer, TextProtocolAdapter } from '../text-adapter.ts';
import { toCountParams, toTextParams } from './request.ts';
import { BETA_HEADER } from './sent-body.ts';

export const foreign = (): Error => new Error('a result of another protocol on /v1/messages');

/**
 * Event that the provider itself sends to keep a connection open. It can occur anywhere, even before the first event.
 */
export const PING = 'event: ping\ndata: {"type": "ping"}\n\n';

/**
 * Sends the provider's events byte for byte (MSG-1). An error is an event of that name (GEN-3), and nothing follows it.
 */
export const messagesStream = ({ requestId, write }: StreamContext): StreamRenderer => ({
  native: (events) => write(events.join('')),
  neutral: () => {
    throw foreign();
  },
  finish: (ending) => {
    if (ending.kind !== 'native') throw foreign();
    write(ending.events.join(''));
  },
  fail: (error) => write(`event: error\ndata: ${JSON.stringify(toErrorBody(error, 'messages', requestId))}\n\n`),
});

/** POST /v1/messages. Its only provider uses the same protocol. */
export const messages: TextProtocolAdapter = {
  protocol: 'messages',
  toParams: ({ body, event }, alternatives) => {
    requireMessagesVersion(event.headers);
    return toTextParams({ json: body.json, betas: event.headers[BETA_HEADER] }, body.bytes, alternatives);
  },
  toBody: ({ content }) => {
    if (content.kind !== 'native') throw foreign();
    return content.text;
  },
  toStream: messagesStream,
  keepAlive: PING,
};

/** POST /v1/messages/count_tokens. */
export const createCountMessageTokens =
  (deps: CountDependencies<JsonObject>): RouteHandler =>
  async (exchange) => {
    const { event, body, summary } = exchange;
    if (!body) throw new Error('a count request without a body');
    const { requireParameters } = readPaidHeaders(event.headers, noKeys, false);
    requireMessagesVersion(event.headers);
    const alternatives = alternativesIn(deps.catalog, 'messages', deps.clock.now());
    const order = toCountParams({ json: body.json, betas: event.headers[BETA_HEADER] }, alternatives);
    let ignored: readonly string[] = [];
    const counted = await countTokens(deps, {
      allowed: admissionOf(exchange).key.models,
      modelId: order.modelId,
      protocol: 'messages',
      wire: 'anthropic_messages',
      headers: order.headers,
      validateFor: (model) => {
        summary.model = model.id;
        const prepared = order.validateFor(model);
        ({ ignored } = prepared);
        if (requireParameters) refuseIgnored(ignored, model.id);
        return prepared.body;
      },
    });
    return json(200, counted, ignoredHeaders(ignored));
  };
