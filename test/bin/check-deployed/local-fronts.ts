import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createAccountHandler } from '../../../lambdas/functions/wiring/account-handler.ts';
import { createAppHandler } from '../../../lambdas/functions/wiring/app-handler.ts';
import { createBotHandler } from '../../../lambdas/functions/wiring/bot-handler.ts';
import { createCatalogHandler } from '../../../lambdas/functions/wiring/catalog-handler.ts';
import { createContentHandler } from '../../../lambdas/functions/wiring/content-handler.ts';
import type { FunctionDependencies } from '../../../lambdas/functions/wiring/dependencies.ts';
import { createTextHandler } from '../../../lambdas/functions/wiring/text-handler.ts';
import { createResponseStream, type StreamingHandler, streaming } from '../../../lambdas/host/lambda-runtime.ts';
import { matchPath } from '../../../lambdas/http/router.ts';
import { functionForUnknownRoutes, type HttpFunction } from '../../../lambdas/routes.ts';
import { viewerFunctionCode } from '../../../lib/edge/function-code.ts';
import { asCalled, restApiEvent } from '../../lambdas/http/rest-api-event.ts';
import { runEdgeFunction, toEdgeRequest, toProgram } from '../../lib/edge/edge-function.ts';

/** Local server that does what a front door of AWS does. */
export interface Front {
  readonly url: string;
  /** Destination of each request: the origin or the function. */
  readonly seen: readonly string[];
  stop(): Promise<void>;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const start = async (serve: Serve, seen: readonly string[]): Promise<Front> => {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const peerOf = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? '';

interface CloudFrontOrigins {
  /** URL of the functions: of the default origin, of large bodies and of images. */
  readonly functionUrl: string;
  readonly originSecret: string;
  /** Reads an object of the bucket. Undefined if there is none. */
  readonly readObject: (key: string) => Promise<{ readonly bytes: Uint8Array; readonly type: string } | undefined>;
}

/**
 * Runs the deployed viewer function for each request, then forwards it to the origin that the function chose, with the
 * host and the header of the origin.
 */
export const startCloudFront = ({ functionUrl, originSecret, readObject }: CloudFrontOrigins): Promise<Front> => {
  const code = viewerFunctionCode({ largeBodyOrigin: 'inference', bucketOrigin: 'bucket', mediaOrigin: 'content' });
  const seen: string[] = [];
  const serve: Serve = async (request, response) => {
    const sent = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const edge = toEdgeRequest(request.method ?? 'GET', request.url ?? '/', sent);
    const { result, chosen } = runEdgeFunction(code, Date.now(), { request: edge, viewer: { ip: peerOf(request) } });
    seen.push(`${request.method} ${edge.uri} ${JSON.stringify(chosen)}`);
    if ('statusCode' in result) {
      const headers = Object.entries(result.headers).map(([name, { value }]) => [name, value] as const);
      response.writeHead(result.statusCode, Object.fromEntries(headers)).end(result.body);
      return;
    }
    const isImage = chosen.some((origin) => typeof origin === 'object');
    const object = isImage ? await readObject(result.uri.slice(1)) : undefined;
    if (object) {
      response.writeHead(200, { 'content-type': object.type }).end(object.bytes);
      return;
    }
    const { query, headers } = toProgram(result);
    const forwarded = { ...headers, host: new URL(functionUrl).host, 'x-origin-secret': originSecret };
    const url = `${functionUrl}${result.uri}${query === '' ? '' : `?${query}`}`;
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const origin = sendRequest(url, { method: result.method, headers: forwarded }, resolve).on('error', reject);
      pipeline(request, origin).catch(reject);
    });
    response.writeHead(reply.statusCode ?? 502, reply.headers);
    await pipeline(reply, response);
  };
  return start(serve, seen);
};

/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html: payload of a synchronous call, in bytes. */
const EVENT_BYTES_MAX = 6 * 1_024 * 1_024;

/** Calls the function of each route with the event of a REST API, and sends its stream as the response. */
export const startApiGateway = (deps: FunctionDependencies): Promise<Front> => {
  const handlers: Readonly<Partial<Record<HttpFunction, StreamingHandler>>> = {
    text: streaming(createTextHandler(deps)),
    content: streaming(createContentHandler(deps)),
    catalog: streaming(createCatalogHandler(deps)),
    account: streaming(createAccountHandler(deps)),
    bot: streaming(createBotHandler(deps)),
    app: streaming(createAppHandler(deps)),
  };
  const seen: string[] = [];
  const serve: Serve = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://front');
    const name = matchPath(pathname)[0]?.route.function ?? functionForUnknownRoutes;
    const body = Buffer.concat(await request.toArray());
    const event = restApiEvent({
      method: request.method ?? 'GET',
      path: pathname,
      query: [...searchParams],
      headers: Object.entries(request.headersDistinct).flatMap(([header, values = []]) =>
        values.map((value) => [header, value] as const),
      ),
      ...(body.length > 0 ? { body } : {}),
      sourceIp: peerOf(request),
    });
    seen.push(`${request.method} ${pathname} ${name}`);
    if (Buffer.byteLength(JSON.stringify(event)) > EVENT_BYTES_MAX) {
      response.writeHead(413).end();
      return;
    }
    const stream = createResponseStream({
      head: ({ statusCode, headers }) => response.writeHead(statusCode, headers),
      write: (bytes, done) => void response.write(bytes, () => done()),
      end: (done) => response.end(done),
    });
    await handlers[name]?.(asCalled(event), stream, { functionName: name });
  };
  return start(serve, seen);
};
