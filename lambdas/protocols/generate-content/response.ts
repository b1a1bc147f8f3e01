import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Wire } from '../../core/catalog/providers.ts';
import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { type CountDependencies, countTokens } from '../../core/text/count-tokens.ts';
import type { Ending } from '../../core/text/text-wire.ts';
import { eventStreamHeaders } from '../../http/event-stream.ts';
import { admissionOf, type Exchange, json, type RouteHandler } from '../../http/exchange.ts';
import { toErrorBody } from '../../http/render-error.ts';
import { alternativesIn } from '../alternatives.ts';
import { refuseIgnored } from '../fields.ts';
import { noKeys, readPaidHeaders } from '../paid-request.ts';
import { ignoredHeaders } from '../paid-response.ts';
import type { StreamContext, StreamRenderer, TextProtocolAdapter, TextRouteDependencies } from '../text-adapter.ts';
import { createTextRoute } from '../text-route.ts';
import { toCountParams, toTextParams } from './request.ts';

type Query = Pick<APIGatewayProxyEventV2, 'queryStringParameters'>;

/** https://cloud.google.com/apis/docs/system-parameters: `alt` selects the response format. */
const altOf = ({ queryStringParameters: query = {} }: Query): string => query.alt ?? 'json';

/** Framing of a stream (GEM-2). Throws the 400 for an unknown `alt`. */
export const framingOf = (event: Query): 'sse' | 'array' => {
  const alt = altOf(event);
  if (alt === 'sse') return 'sse';
  if (alt === 'json') return 'array';
  throw invalidRequest('alt', 'alt: must be "sse" or "json".');
};

/** Rejects `alt=sse` on routes that do not stream. */
export const requireJson = (event: Query): void => {
  if (altOf(event) === 'json') return;
  throw invalidRequest('alt', 'alt: must be "json". Streams are at :streamGenerateContent.');
};

export const foreign = (): Error => new Error('a result of another protocol on generateContent');

const toErrorElement = (error: GatewayError, requestId: string): string =>
  JSON.stringify(toErrorBody(error, 'generate_content', requestId));

type Context = Pick<StreamContext, 'write' | 'requestId'>;

const lastOf = (ending: Ending): readonly string[] => {
  if (ending.kind !== 'native') throw foreign();
  return ending.events;
};

const refuseDeltas = (): never => {
  throw foreign();
};

const asEvents = (elements: readonly string[]): string => elements.map((element) => `data: ${element}\n\n`).join('');

/**
 * Renders a stream with `?alt=sse`. No event marks the end, so a client knows the last event only by the end of the
 * stream.
 */
export const eventStream = ({ write, requestId }: Context): StreamRenderer => ({
  native: (events) => write(asEvents(events)),
  neutral: refuseDeltas,
  finish: (ending) => write(asEvents(lastOf(ending))),
  fail: (error) => write(asEvents([toErrorElement(error, requestId)])),
});

/**
 * Renders a stream without `?alt=sse` as one JSON array. Only a successful response closes the array. After an error it
 * stays open, so that a parser of the whole array fails, and a reader of single elements finds the error last.
 */
export const arrayStream = ({ write, requestId }: Context): StreamRenderer => {
  let separator = '[';
  const asElements = (elements: readonly string[]): string =>
    elements
      .map((element) => {
        const text = `${separator}${element}\n`;
        separator = ',\r\n';
        return text;
      })
      .join('');
  return {
    native: (events) => write(asElements(events)),
    neutral: refuseDeltas,
    finish: (ending) => write(`${asElements(lastOf(ending))}${separator === '[' ? '[' : ''}]`),
    fail: (error) => write(asElements([toErrorElement(error, requestId)])),
  };
};

export const modelIdOf = ({ route }: Pick<Exchange, 'route'>): string => {
  const model = route?.params.model;
  if (!model) throw new Error('a generateContent route without a model in its path');
  return model;
};

const faceOf = (stream: boolean): TextProtocolAdapter => ({
  protocol: 'generate_content',
  streams: stream,
  toParams: ({ body: { json, bytes }, route }, alternatives) =>
    toTextParams({ modelId: modelIdOf({ route }), stream, json, bodyBytes: bytes }, alternatives),
  toBody: ({ content }) => {
    if (content.kind !== 'native') throw foreign();
    return content.text;
  },
  toStream: eventStream,
});

/** Framing of `?alt=sse`. */
export const streamedAsEvents = faceOf(true);

const streamedAsArray: TextProtocolAdapter = {
  ...streamedAsEvents,
  toStream: arrayStream,
  streamHeaders: { ...eventStreamHeaders, 'content-type': 'application/json; charset=utf-8' },
  // JSON allows a space wherever the next element can follow (CHAT-11).
  keepAlive: ' ',
};

const plain = faceOf(false);

/** POST /v1beta/models/{model}:generateContent. Its only provider uses the same protocol. */
export const generateContent: TextProtocolAdapter = {
  ...plain,
  toParams: (exchange, alternatives) => {
    requireJson(exchange.event);
    return plain.toParams(exchange, alternatives);
  },
};

/** POST /v1beta/models/{model}:streamGenerateContent. Its query selects the framing (GEM-2). */
export const createStreamGenerateContent = (deps: TextRouteDependencies): RouteHandler => {
  const routes = {
    sse: createTextRoute(deps, streamedAsEvents),
    array: createTextRoute(deps, streamedAsArray),
  };
  return async (exchange) => routes[framingOf(exchange.event)](exchange);
};

/** Wires whose provider counts tokens in this protocol. */
const wires: readonly Wire[] = ['gemini_generate_content', 'gemini_generate_content_image'];

/** POST /v1beta/models/{model}:countTokens. Returns the provider's result. */
export const createCountContentTokens =
  (deps: CountDependencies<JsonObject>): RouteHandler =>
  async (exchange) => {
    const { event, body, summary } = exchange;
    if (!body) throw new Error('a count request without a body');
    const { requireParameters } = readPaidHeaders(event.headers, noKeys, false);
    requireJson(event);
    const modelId = modelIdOf(exchange);
    const nowMs = deps.clock.now();
    const alternatives = alternativesIn(deps.catalog, 'generate_content', nowMs);
    const upstreams = deps.catalog.find(modelId, nowMs)?.upstreams ?? [];
    const order = toCountParams({ modelId, json: body.json }, alternatives);
    let ignored: readonly string[] = [];
    const counted = await countTokens(deps, {
      allowed: admissionOf(exchange).key.models,
      modelId,
      protocol: 'generate_content',
      wire: wires.find((name) => upstreams.some(({ wire }) => wire === name)) ?? 'gemini_generate_content',
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
