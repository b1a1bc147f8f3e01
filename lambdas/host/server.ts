import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { toErrorBody } from '../http/render-error.ts';
import { matchPath } from '../http/router.ts';
import { functionForUnknownRoutes, type HttpFunction } from '../routes.ts';
import { toReceiver } from './client-connection.ts';
import { createResponseStream, type StreamingHandler } from './lambda-runtime.ts';
import { toEvent } from './to-event.ts';

export interface HostOptions {
  readonly handlers: Readonly<Record<HttpFunction, StreamingHandler>>;
  readonly port: number;
  readonly address: string;
  readonly now: () => number;
  /** A handler that fails as a whole, which none should. */
  readonly onCrash: (error: unknown) => void;
}

export interface Host {
  readonly port: number;
  /** Takes no more requests and gives those under way some time; then closes their connections. */
  stop(graceMs: number): Promise<void>;
}

/** A plain HTTP server in front of the very handlers that run behind function URLs. */
export const startHost = async (options: HostOptions): Promise<Host> => {
  const server = http.createServer({ keepAliveTimeout: 65_000, headersTimeout: 15_000, requestTimeout: 0 });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(options, request, response).catch((error: unknown) => {
      options.onCrash(error);
      response.destroy();
    });
  });
  server.on('clientError', (_error: Error, socket: Socket) => {
    if (socket.writable) socket.end(rawError('The request is not valid HTTP.'));
    else socket.destroy();
  });
  await listen(server, options);
  return { port: portOf(server.address()), stop: (graceMs) => stop(server, graceMs) };
};

const serve = async (options: HostOptions, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  // A socket may break at any time; what is written after that goes nowhere.
  response.on('error', () => undefined);
  const problem = malformed(request);
  if (problem) {
    response.shouldKeepAlive = false;
    response.writeHead(400, { 'content-type': 'application/json; charset=utf-8' }).end(errorText(problem));
    return;
  }
  const event = toEvent(request, options.now());
  const [match] = matchPath(event.rawPath);
  const handler = options.handlers[match?.route.function ?? functionForUnknownRoutes];
  await handler(event, createResponseStream(toReceiver(response)), { functionName: 'local' });
};

/** GEN-7: what could be read as two different requests by two programs is served by none. */
const malformed = (request: IncomingMessage): string | undefined => {
  if ((request.headersDistinct.host?.length ?? 0) > 1) return 'Host: sent twice. Send it once.';
  return request.url?.startsWith('/') ? undefined : 'The request line must hold a path, not a whole address.';
};

const errorText = (message: string): string =>
  JSON.stringify(toErrorBody(new GatewayError('invalid_request_error', message)));

const rawError = (message: string): string => {
  const body = errorText(message);
  return `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;
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

const stop = (server: http.Server, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
