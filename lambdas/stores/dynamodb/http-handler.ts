import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import https from 'node:https';
import { crc32 } from 'node:zlib';

/** Time limits of one attempt in ms. 0 removes a limit. */
export interface HttpLimits {
  /** Time until the connection is open, with the wait for a free one. */
  readonly connectionTimeout: number;
  /** Time until the headers of the response, and then the longest time without a byte of its body. */
  readonly requestTimeout: number;
}

/** A signed request of the SDK. */
interface HttpRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

interface HttpResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

interface Transport {
  readonly agent: Agent;
  readonly request: (options: RequestOptions) => ClientRequest;
}

const CONNECTIONS_MAX = 500;

/** Starts a measurement of the table's clock. The returned function gets the `Date` header of the reply. */
type StartSample = () => (date: string | undefined) => void;

/**
 * Creates a request handler of an SDK client, with less work per call than the SDK's own. It keeps connections open,
 * reads the whole body and checks its checksum. It sends a request once, whatever happens. Every reply is a measurement
 * of the table's clock.
 */
export const createHttpHandler = (initial: HttpLimits, startSample?: StartSample) => {
  const limits = { ...initial };
  const options = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const secure: Transport = { agent: new https.Agent(options), request: https.request };
  let plain: Transport | undefined;
  /** Only emulators use plain HTTP. An import of its module would load a second HTTP client everywhere. */
  const openPlain = (): Transport => {
    const http = process.getBuiltinModule('node:http');
    return { agent: new http.Agent(options), request: http.request };
  };
  return {
    metadata: { handlerProtocol: 'http/1.1' },
    handle: async (request: HttpRequest): Promise<{ response: HttpResponse }> => {
      const isSecure = request.protocol === 'https:';
      if (!isSecure) plain ??= openPlain();
      const replied = startSample?.();
      const response = await exchange(request, isSecure || !plain ? secure : plain, limits);
      // A cached reply has an age, and an old date.
      if (response.headers.age === undefined) replied?.(response.headers.date);
      return { response };
    },
    updateHttpClientConfig: (name: string | symbol, value: unknown): void => {
      if ((name === 'connectionTimeout' || name === 'requestTimeout') && typeof value === 'number')
        limits[name] = value;
    },
    httpHandlerConfigs: (): HttpLimits => ({ ...limits }),
    destroy: (): void => {
      secure.agent.destroy();
      plain?.agent.destroy();
    },
  };
};

const exchange = (
  request: HttpRequest,
  transport: Transport,
  { connectionTimeout, requestTimeout }: HttpLimits,
): Promise<HttpResponse> =>
  new Promise((resolve, reject) => {
    const outgoing = transport.request(toOptions(request, transport.agent));
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
      outgoing.destroy();
    };
    const timer = startTimer(requestTimeout, 'ETIMEDOUT', fail);
    if (!outgoing.reusedSocket) limitConnecting(outgoing, connectionTimeout, fail);
    outgoing.on('error', (error) => fail(toTimeout(error)));
    outgoing.on('response', (incoming) => {
      timer?.refresh();
      readBody(incoming, timer)
        .then((body) => {
          resolve(toResponse(incoming, body));
          clearTimeout(timer);
        })
        .catch((error: Error) => fail(toTimeout(error)));
    });
    outgoing.end(request.body);
  });

/** Headers in a list are sent unchanged, so they have to include the host and the length of the body. */
const toOptions = (request: HttpRequest, agent: Agent): RequestOptions => {
  const { hostname, port, method, path, headers } = request;
  const list: string[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) list.push(name, value);
  }
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port, method, path, headers: list, agent };
};

const startTimer = (ms: number, code: string, fail: (error: Error) => void): NodeJS.Timeout | undefined => {
  if (ms === 0) return undefined;
  return setTimeout(() => {
    fail(Object.assign(new Error(`the table exceeded a time limit of ${ms} ms`), { name: 'TimeoutError', code }));
  }, ms);
};

const limitConnecting = (outgoing: ClientRequest, ms: number, fail: (error: Error) => void): void => {
  const timer = startTimer(ms, 'ETIMEDOUT', fail);
  const stop = (): void => clearTimeout(timer);
  outgoing.on('socket', (socket) => {
    if (socket.connecting) socket.once('connect', stop);
    else stop();
  });
  outgoing.on('close', stop);
};

const readBody = (incoming: IncomingMessage, timer: NodeJS.Timeout | undefined): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => {
      timer?.refresh();
      chunks.push(chunk);
    });
    incoming.on('end', () => resolve(chunks[0] && chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    incoming.on('error', reject);
  });

/** Throws if the body differs from what the table sent. The write of the call can have happened then. */
const toResponse = ({ statusCode = 0, headers }: IncomingMessage, body: Buffer): HttpResponse => {
  const checksum = headers['x-amz-crc32'];
  if (checksum !== undefined && Number(checksum) !== crc32(body)) {
    throw Object.assign(new Error('the response differs from its checksum'), { name: 'ChecksumError', $metadata: {} });
  }
  return { statusCode, headers, body };
};

/** Node's codes for a connection that broke. The SDK gives these errors this name. */
const brokenCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

const toTimeout = (error: Error): Error =>
  'code' in error && brokenCodes.has(error.code) ? Object.assign(error, { name: 'TimeoutError' }) : error;
