import http, { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { isCut, markAsLeft, onCutEnd } from '../http/cut-answers.ts';
import { type ClientFormat, formatOf, toErrorBody } from '../http/render-error.ts';
import { corsHeaders, matchPath } from '../http/router.ts';
import { functionForUnknownRoutes, type HttpFunction } from '../routes.ts';
import { toReceiver } from './client-connection.ts';
import { type ConnectionLimit, limitConnections } from './connection-limit.ts';
import { createResponseStream, type StreamingHandler } from './lambda-runtime.ts';
import { hasRepeatedHeader, toEvent } from './to-event.ts';

// V8 allocates objects of code whose objects survived some collections directly in the old generation. It decides this
// during the start, when little memory is in use. Each of those objects then keeps its whole request in memory until a
// full collection.
setFlagsFromString('--no-allocation-site-pretenuring');
// V8 collects garbage when a program has been almost idle for some seconds. By default it then also discards compiled
// code and the object shapes on which that code depends, and the next thousands of requests use up to four times the
// CPU.
setFlagsFromString('--no-memory-reducer-favors-memory');

export interface HostOptions {
  /**
   * Handlers of this host, at least one. A request for a function without a handler here goes to the handler of
   * `functionForUnknownRoutes`, or to the first handler if `functionForUnknownRoutes` has none either.
   */
  readonly handlers: Readonly<Partial<Record<HttpFunction, StreamingHandler>>>;
  readonly port: number;
  readonly address: string;
  readonly now: () => number;
  readonly newRequestId: () => string;
  /** Returns the client IP; the peer of the connection by default (LIM-7). */
  readonly sourceIp?: (request: IncomingMessage) => string;
  /** Time limit of a request on this host in ms, counted from its start (LIM-6). */
  readonly requestMs?: number;
  /** Time in ms for which an idle connection stays open, by default 65 s. */
  readonly keepAliveMs?: number;
  /** Undefined if the connections of a client IP have no limit. */
  readonly connectionLimit?: ConnectionLimit;
  /** Handles requests outside of the routes; returns whether it accepted the request. */
  readonly beside?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called if a handler fails as a whole, which is a bug. */
  readonly onCrash: (error: unknown) => void;
}

export interface Host {
  readonly port: number;
  /** Accepts no more requests, gives those in progress `graceMs`, then closes their connections. */
  stop(graceMs: number): Promise<void>;
  /** Number of handlers that are running. */
  running(): number;
  /** Resolves when no handler is running. A handler may continue after its client has left (BILL-8). */
  idle(): Promise<void>;
}

/** Longer than the 60 s of most proxies, because a proxy must close an idle connection first. */
const KEEP_ALIVE_MS = 65_000;
/** Time in ms in which the headers of a request must arrive (GEN-15). */
const HEADERS_MS = 15_000;
/** Time in ms between two searches for connections whose headers are late. */
const HEADERS_CHECK_MS = 5_000;

const answering = Symbol('latest response');

interface AnsweringSocket extends Socket {
  [answering]?: ServerResponse | undefined;
}

const answerInProgress = ({ [answering]: answer }: AnsweringSocket): ServerResponse | undefined =>
  answer?.writableFinished || answer?.destroyed ? undefined : answer;

/** Starts a plain HTTP server that runs the same handlers as the function URLs. */
export const startHost = async (options: HostOptions): Promise<Host> => {
  const server = http.createServer({
    keepAliveTimeout: options.keepAliveMs ?? KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    connectionsCheckingInterval: HEADERS_CHECK_MS,
    requestTimeout: 0,
    // `malformed` checks the header, so that the error has the format of the gateway.
    requireHostHeader: false,
  });
  const atWork = new Set<Promise<void>>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    const socket: AnsweringSocket = request.socket;
    socket[answering] = response;
    response.once('close', () => {
      // A pipelined request may have followed. An idle connection must not keep a request and its API key.
      if (socket[answering] === response) socket[answering] = undefined;
    });
    const served = serve(options, request, response).then(
      () => {
        atWork.delete(served);
      },
      (error: unknown) => {
        atWork.delete(served);
        response.destroy();
        options.onCrash(error);
      },
    );
    atWork.add(served);
  };
  server.on('request', take);
  server.on('checkExpectation', take);
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: AnsweringSocket) => {
    const answer = answerInProgress(socket);
    // Invalid bytes after a complete request must neither interrupt its response nor appear in it.
    if (answer?.req.complete) answer.once('finish', () => socket.destroySoon());
    else if (!socket.writable || answer?.headersSent) socket.destroy();
    else endSoon(socket, rawError(invalidHttp(code), options.newRequestId()));
  });
  if (options.connectionLimit) limitConnections(server, options.connectionLimit);
  await listen(server, options);
  return {
    port: portOf(server.address()),
    stop: (graceMs) => stop(server, graceMs),
    running: () => atWork.size,
    idle: async () => {
      while (atWork.size > 0) await Promise.all(atWork);
    },
  };
};

const serve = async (options: HostOptions, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  // A socket can break at any time; later writes are dropped.
  response.on('error', () => undefined);
  useOriginForm(request);
  const problem = malformed(request);
  if (problem) {
    const requestId = options.newRequestId();
    const format = formatOf(request.url?.split('?', 1)[0] ?? '', {});
    const error = new GatewayError('invalid_request_error', problem);
    response.writeHead(error.status, errorHeaders(requestId, format)).end(errorText(error, format, requestId));
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

/** A route that this host does not serve goes to any handler, each of which returns the 404 (GEN-7). */
const handlerFor = (handlers: HostOptions['handlers'], path: string): StreamingHandler => {
  const [match] = matchPath(path);
  const own = match && handlers[match.route.function];
  const handler = own ?? handlers[functionForUnknownRoutes] ?? Object.values(handlers)[0];
  if (!handler) throw new Error('a host without a handler');
  return handler;
};

/**
 * Replaces a target that is a complete URL by its path, and `Host` by its host
 * (https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2). Clients send such a target to a proxy.
 */
const useOriginForm = (request: IncomingMessage): void => {
  const [, host, target = ''] = /^https?:\/\/([^/?#@\s]+)((?:[/?].*)?)$/i.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  request.url = target.startsWith('/') ? target : `/${target}`;
  if (request.headers.host !== undefined) request.headers.host = host;
};

/** GEN-7: rejects a request that two programs could interpret differently. */
const malformed = (request: IncomingMessage): string | undefined => {
  const repeated = hasRepeatedHeader(request) ? request.headersDistinct : {};
  if ((repeated.host?.length ?? 0) > 1) return 'Host: sent twice. Send it once.';
  const { expect, host } = request.headers;
  if (host === undefined && request.httpVersion === '1.1') return 'Host: missing.';
  // Node would join them into a third key (IDEM-6).
  if ((repeated['idempotency-key']?.length ?? 0) > 1) return 'Idempotency-Key: sent twice. Send it once.';
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return 'Expect: only 100-continue is supported. Remove the header.';
  return request.url?.startsWith('/') ? undefined : 'The request line must have a path or an http(s) URL.';
};

const errorText = (error: GatewayError, format: ClientFormat, requestId: string): string =>
  JSON.stringify(toErrorBody(error, format, requestId));

const errorHeaders = (requestId: string, format: ClientFormat): Record<string, string> => ({
  ...corsHeaders,
  'x-request-id': requestId,
  ...(format === 'messages' ? { 'request-id': requestId } : {}),
  'content-type': 'application/json; charset=utf-8',
  connection: 'close',
});

/** Time in ms in which a client can read an error and close its connection. */
const LINGER_MS = 1_000;

/**
 * Sends the last text of a connection and closes it soon. If it closed immediately, unread bytes would reset the
 * connection, and the client would not see the text. A client that keeps its side open must not keep the descriptor.
 */
const endSoon = (socket: Socket, text: string): void => {
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
};

const invalidHttp = (code: string | undefined): GatewayError => {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new GatewayError(
      'request_timeout',
      `The headers did not arrive within ${HEADERS_MS / 1_000} s. Send the request again.`,
    );
  return new GatewayError(
    'invalid_request_error',
    code === 'HPE_HEADER_OVERFLOW'
      ? 'The path and headers together are larger than 16 KB. Send shorter ones.'
      : 'The request is not valid HTTP.',
  );
};

const rawError = (error: GatewayError, requestId: string): string => {
  // A request that is not valid HTTP has no path.
  const body = errorText(error, 'plain', requestId);
  const headers = { ...errorHeaders(requestId, 'plain'), 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n');
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
    // A connection that was busy at the start of the shutdown can become idle later.
    const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      clearTimeout(force);
      clearInterval(closeIdle);
      resolve();
    });
    server.closeIdleConnections();
  });
