import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { isCut, markAsLeft, onCutEnd } from '../http/cut-answers.ts';
import { type ClientFormat, formatOf, toErrorBody } from '../http/render-error.ts';
import { corsHeaders, matchPath } from '../http/router.ts';
import { functionForUnknownRoutes, type HttpFunction } from '../routes.ts';
import { toReceiver } from './client-connection.ts';
import { createResponseStream, type StreamingHandler } from './lambda-runtime.ts';
import { toEvent } from './to-event.ts';

export interface HostOptions {
  /** Handlers of this host, at least one. Any of them handles a request without a route. */
  readonly handlers: Readonly<Partial<Record<HttpFunction, StreamingHandler>>>;
  readonly port: number;
  readonly address: string;
  readonly now: () => number;
  readonly newRequestId: () => string;
  /** Returns the client IP; the peer of the connection by default (LIM-7). */
  readonly sourceIp?: (request: IncomingMessage) => string;
  /** Time limit of a request on this host in ms, counted from its start (LIM-6). */
  readonly requestMs?: number;
  /** Handles requests besides the routes; returns whether it took the request. */
  readonly beside?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A handler that fails as a whole, which none should. */
  readonly onCrash: (error: unknown) => void;
}

export interface Host {
  readonly port: number;
  /** Takes no more requests and gives those under way some time; then closes their connections. */
  stop(graceMs: number): Promise<void>;
  /** Once no handler is at work: one may go on when its client has left (BILL-8). */
  idle(): Promise<void>;
}

/** A plain HTTP server in front of the very handlers that run behind function URLs. */
export const startHost = async (options: HostOptions): Promise<Host> => {
  const server = http.createServer({
    keepAliveTimeout: 65_000,
    headersTimeout: 15_000,
    requestTimeout: 0,
    // Our own check answers in our own shape.
    requireHostHeader: false,
  });
  const answers = new WeakMap<Socket, ServerResponse>();
  const atWork = new Set<Promise<void>>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    answers.set(request.socket, response);
    response.once('close', () => answers.delete(request.socket));
    const served = serve(options, request, response)
      .catch((error: unknown) => {
        options.onCrash(error);
        response.destroy();
      })
      .finally(() => atWork.delete(served));
    atWork.add(served);
  };
  server.on('request', take);
  server.on('checkExpectation', take);
  server.on('clientError', (_error: Error, socket: Socket) => {
    const answer = answers.get(socket);
    // Rubbish behind a whole request: its answer is neither broken into nor broken off.
    if (answer?.req.complete) answer.once('finish', () => socket.destroySoon());
    else if (!socket.writable || answer?.headersSent) socket.destroy();
    else socket.end(rawError('The request is not valid HTTP.', options.newRequestId()));
  });
  await listen(server, options);
  return {
    port: portOf(server.address()),
    stop: (graceMs) => stop(server, graceMs),
    idle: async () => {
      while (atWork.size > 0) await Promise.all(atWork);
    },
  };
};

const serve = async (options: HostOptions, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  // A socket may break at any time; what is written after that goes nowhere.
  response.on('error', () => undefined);
  const problem = malformed(request);
  if (problem) {
    const requestId = options.newRequestId();
    const format = formatOf(request.url?.split('?', 1)[0] ?? '', {});
    response.writeHead(400, errorHeaders(requestId, format)).end(errorText(problem, format, requestId));
    return;
  }
  if (options.beside?.(request, response)) return;
  const event = toEvent(request, options.now(), options.sourceIp);
  response.once('close', () => {
    if (!response.writableFinished) markAsLeft(event);
  });
  onCutEnd(event, () => response.destroy());
  const handler = handlerFor(options.handlers, event.rawPath);
  await handler(event, createResponseStream(toReceiver(response, () => isCut(event))), toContext(options));
};

/** Context with the remaining time, if the host limits requests. */
const toContext = ({ requestMs, now }: HostOptions): Record<string, unknown> => {
  if (requestMs === undefined) return { functionName: 'local' };
  const endsAtMs = now() + requestMs;
  return { functionName: 'local', getRemainingTimeInMillis: () => endsAtMs - now() };
};

/** A route that is not served here is unknown here, which every handler answers (GEN-7). */
const handlerFor = (handlers: HostOptions['handlers'], path: string): StreamingHandler => {
  const [match] = matchPath(path);
  const own = match && handlers[match.route.function];
  const handler = own ?? handlers[functionForUnknownRoutes] ?? Object.values(handlers)[0];
  if (!handler) throw new Error('a host without a handler');
  return handler;
};

/** GEN-7: what could be read as two different requests by two programs is served by none. */
const malformed = (request: IncomingMessage): string | undefined => {
  const hosts = request.headersDistinct.host?.length ?? 0;
  if (hosts > 1) return 'Host: sent twice. Send it once.';
  if (hosts === 0 && request.httpVersion === '1.1') return 'Host: missing.';
  // Joined they would be a third key (IDEM-6).
  if ((request.headersDistinct['idempotency-key']?.length ?? 0) > 1)
    return 'Idempotency-Key: sent twice. Send it once.';
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return 'Expect: only 100-continue is supported. Remove the header.';
  return request.url?.startsWith('/') ? undefined : 'The request line must have a path, not a full URL.';
};

const errorText = (message: string, format: ClientFormat, requestId: string): string =>
  JSON.stringify(toErrorBody(new GatewayError('invalid_request_error', message), format, requestId));

const errorHeaders = (requestId: string, format: ClientFormat): Record<string, string> => ({
  ...corsHeaders,
  'x-request-id': requestId,
  ...(format === 'messages' ? { 'request-id': requestId } : {}),
  'content-type': 'application/json; charset=utf-8',
  connection: 'close',
});

const rawError = (message: string, requestId: string): string => {
  // A request that is not valid HTTP has no path.
  const body = errorText(message, 'plain', requestId);
  const headers = { ...errorHeaders(requestId, 'plain'), 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ['HTTP/1.1 400 Bad Request', ...lines, '', body].join('\r\n');
};

const listen = (server: http.Server, { port, address }: HostOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, () => {
      server.off('error', reject);
      resolve();
    });
  });

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address ? address.port : 0;

const IDLE_CHECK_MS = 100;

const stop = (server: http.Server, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection that was busy when the end began may be idle a moment later.
    const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      clearTimeout(force);
      clearInterval(closeIdle);
      resolve();
    });
    server.closeIdleConnections();
  });
