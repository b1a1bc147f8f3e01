import { eventStreamHeaders } from '../../http/event-stream.ts';
import type { Exchange, RouteHandler } from '../../http/exchange.ts';
import type { TextFace, TextRoutePorts } from '../text-face.ts';
import { createTextRoute } from '../text-route.ts';
import { framingOf, requireJson } from './framing.ts';
import { toTextOrder } from './request.ts';
import { arrayStream, eventStream, foreign } from './stream.ts';

export const modelIdOf = ({ route }: Pick<Exchange, 'route'>): string => {
  const model = route?.params.model;
  if (!model) throw new Error('a route of generateContent without a model in its path');
  return model;
};

const faceOf = (stream: boolean): TextFace => ({
  protocol: 'generate_content',
  streams: stream,
  toOrder: ({ body: { json, bytes }, route }, alternatives) =>
    toTextOrder({ modelId: modelIdOf({ route }), stream, json, bodyBytes: bytes }, alternatives),
  toBody: ({ content }) => {
    if (content.kind !== 'native') throw foreign();
    return content.text;
  },
  toStream: eventStream,
});

/** The framing of `?alt=sse`. */
export const streamedAsEvents = faceOf(true);

const streamedAsArray: TextFace = {
  ...streamedAsEvents,
  toStream: arrayStream,
  streamHeaders: { ...eventStreamHeaders, 'content-type': 'application/json; charset=utf-8' },
  // Space may stand wherever the next element is waited for (CHAT-11).
  keepAlive: ' ',
};

const plain = faceOf(false);

/** POST /v1beta/models/{model}:generateContent. The only vendor behind it speaks the same protocol. */
export const generateContent: TextFace = {
  ...plain,
  toOrder: (exchange, alternatives) => {
    requireJson(exchange.event);
    return plain.toOrder(exchange, alternatives);
  },
};

/** POST /v1beta/models/{model}:streamGenerateContent, framed as its query asks for (GEM-2). */
export const createStreamGenerateContent = (ports: TextRoutePorts): RouteHandler => {
  const routes = {
    sse: createTextRoute(ports, streamedAsEvents),
    array: createTextRoute(ports, streamedAsArray),
  };
  return async (exchange) => routes[framingOf(exchange.event)](exchange);
};
