import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { RecentMap } from '../core/recent-map.ts';
import { markResponded } from '../core/responded-calls.ts';
import { isLocalFailure } from './local-failure.ts';
import { ResponseBytes } from './response-bytes.ts';

export interface UpstreamRequest {
  readonly url: string;
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as UTF-8. Empty for no body. */
  readonly body: string;
  /** Sent instead of `body`. */
  readonly bytes?: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Throws if the connection breaks before the end. Throws the signal's reason if it is aborted. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Reads and drops the rest, so that the connection can be reused. Cuts off a rest that does not arrive in time. */
  discard(): void;
}

/** One call with one connection attempt, without redirects and retries (GEN-5). */
export type UpstreamHttp = (request: UpstreamRequest) => Promise<UpstreamResponse>;

interface UpstreamHttpOptions {
  /**
   * Closes an unused connection after this time in ms, before the provider's server closes it under the next request.
   */
  readonly idleMs?: number;
  /** Cuts off a discarded rest that takes longer than this, in ms. */
  readonly discardMs?: number;
}

/** Uses Node's own client, because it has no time limit on a silent response, unlike `fetch`. */
export const createUpstreamHttp = ({ idleMs = 4_000, discardMs = 5_000 }: UpstreamHttpOptions = {}): UpstreamHttp => {
  const agentOptions = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: idleMs };
  const secure = new https.Agent(agentOptions);
  const plain = new http.Agent(agentOptions);
  const targets = new RecentMap<Target>(TARGETS_MAX);
  return (request) => {
    const { protocol, hostname, port, path, auth } = targets.getOrMake(request.url, () => toTarget(request.url));
    // Node would copy text twice: together with the headers, and again for the socket.
    const payload = request.bytes ?? Buffer.from(request.body);
    const headers: http.OutgoingHttpHeaders = { ...request.headers };
    if (payload.length > 0) headers['content-length'] = payload.length;
    const { method = 'POST', signal } = request;
    const isSecure = protocol === 'https:';
    const agent = isSecure ? secure : plain;
    // One literal, because each copy of so many members costs about a microsecond.
    const options = { protocol, hostname, port, path, auth, method, headers, agent };
    const sent = isSecure ? https.request(options) : http.request(options);
    return answerTo(sent, payload, { signal, discardMs });
  };
};

/** Number of URLs whose parts are remembered. A provider has a few for paid calls, and one for each of its jobs. */
const TARGETS_MAX = 200;

type Target = Pick<https.RequestOptions, 'protocol' | 'hostname' | 'port' | 'path' | 'auth'>;

/** Parts of a URL in the form of Node's options. Throws TypeError for an invalid URL. */
const toTarget = (url: string): Target => {
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(new URL(url));
  return { protocol, hostname, port, path, ...(auth && { auth }) };
};

interface Ends {
  readonly signal: AbortSignal;
  readonly discardMs: number;
}

const answerTo = (
  sent: http.ClientRequest,
  payload: Uint8Array,
  { signal, discardMs }: Ends,
): Promise<UpstreamResponse> =>
  new Promise((resolve, reject) => {
    let connected = false;
    let body: ResponseBytes | undefined;
    sent.once('socket', (socket) => {
      keepErrorsQuiet(socket);
      if (!socket.connecting) connected = true;
      else socket.once('connect', () => (connected = true));
    });
    sent.once('error', (error) => reject(signal.aborted ? signal.reason : failure(error, connected)));
    sent.once('response', (response) => {
      const bytes = new ResponseBytes(
        response,
        (cause) => (signal.aborted ? signal.reason : brokenBody(cause)),
        () => markResponded(signal),
      );
      body = bytes;
      const { statusCode = 0, headers } = response;
      resolve({
        status: statusCode,
        headers,
        body: bytes,
        discard: () => {
          bytes.stop();
          discard(response, discardMs);
        },
      });
    });
    abortBy(signal, sent, () => body?.abort());
    sent.end(payload);
  });

/**
 * Node's own option `signal` does the same at several times the cost. `failBody` is called first, because Node reads a
 * response to its end that has arrived as a whole, and then ends it without an error.
 */
const abortBy = (signal: AbortSignal, sent: http.ClientRequest, failBody: () => void): void => {
  const abort = (): void => {
    failBody();
    sent.destroy(new Error('aborted', { cause: signal.reason }));
  };
  if (signal.aborted) {
    abort();
    return;
  }
  signal.addEventListener('abort', abort);
  sent.once('close', () => signal.removeEventListener('abort', abort));
};

const quiet = new WeakSet<Socket>();

/**
 * Keeps an error of a reused connection from ending the process. Node removes its own error listener at the end of a
 * response. If a signal aborts a complete but unread response, the response ends after the abort but before the
 * connection emits the error, so the error would have no listener.
 */
const keepErrorsQuiet = (socket: Socket): void => {
  if (quiet.has(socket)) return;
  quiet.add(socket);
  socket.on('error', () => undefined);
};

const failure = (error: Error, connected: boolean): GatewayError => {
  if (isLocalFailure(error)) {
    return new GatewayError(
      'service_unavailable',
      'The gateway cannot connect to the provider now. Nothing was charged. Retry the request.',
      { ignoredByCircuit: true, cause: error },
    );
  }
  return connected
    ? new GatewayError(
        'upstream_error',
        'The connection to the provider broke before it responded. Nothing was charged. Retry the request.',
        {
          cause: error,
        },
      )
    : new GatewayError('service_unavailable', 'The provider cannot be reached now. Retry later.', {
        upstreamFailed: true,
        cause: error,
      });
};

const brokenBody = (cause: unknown): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The connection to the provider broke before its response was complete. Nothing was charged. Retry the request.',
    { ignoredByCircuit: isLocalFailure(cause), cause },
  );

const discard = (response: http.IncomingMessage, discardMs: number): void => {
  if (response.readableEnded || response.destroyed) return;
  const timer = setTimeout(() => response.destroy(), discardMs).unref();
  response.once('close', () => clearTimeout(timer));
  response.on('error', () => undefined);
  response.resume();
};
