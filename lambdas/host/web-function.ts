import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ulid } from 'ulid';
import type { Tracing } from '../functions/wiring/dependencies.ts';
import { type Host, type HostOptions, startHost } from './server.ts';

/**
 * Name of the variable in which Lambda passes the address to listen on. Elsewhere the server uses a port of the
 * loopback interface.
 */
const ENDPOINT_VARIABLE = 'AWS_LAMBDA_HTTP_ENDPOINT';
const OWN_ENDPOINT = '127.0.0.1:8080';
/**
 * Maximum time of a request to a Web Function in ms: the timeout with which the functions of the gateway are
 * configured.
 */
const REQUEST_MS = 900_000;
/**
 * Time in ms for running requests after Lambda's shutdown signal. Lambda kills the process one second after the signal.
 */
export const LAST_MS = 800;

/**
 * Starts a host as a Lambda Web Function: a plain HTTP server that AWS forwards requests to. It must listen within 10 s
 * of its start. https://docs.aws.amazon.com/lambda/latest/dg/web-functions-runtimes.html
 */
export const startWebFunction = (
  handlers: HostOptions['handlers'],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Host> => {
  const { address, port } = parseEndpoint(environment[ENDPOINT_VARIABLE] || OWN_ENDPOINT);
  return startHost({
    handlers,
    address,
    port,
    now: Date.now,
    newRequestId: ulid,
    sourceIp: forwardedFor,
    requestMs: REQUEST_MS,
    onCrash: (error) => process.stderr.write(`a handler failed: ${error instanceof Error ? error.stack : error}\n`),
  });
};

/** Members of Node's `process` that are used. */
interface Asked {
  once(name: 'SIGTERM', listener: () => void): unknown;
  exit(code: number): unknown;
}

/**
 * Ends the process on Lambda's signal, after waiting for running requests and their traces for the time that Lambda
 * leaves. The sweeper releases the holds of unfinished requests (BILL-13).
 * https://docs.aws.amazon.com/lambda/latest/dg/web-functions-env-lifecycle.html
 */
export const endWhenAsked = (host: Host, process: Asked, lastMs = LAST_MS, flush?: Tracing['flush']): void => {
  process.once('SIGTERM', async () => {
    const finished = Promise.all([host.stop(lastMs), host.idle()]).then(() => flush?.(lastMs));
    await Promise.race([finished, setTimeout(lastMs)]);
    process.exit(0);
  });
};

/** Parses `host:port`. Throws Error for any other text. */
const parseEndpoint = (endpoint: string): { readonly address: string; readonly port: number } => {
  const [, address = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(endpoint) ?? [];
  if (address === '') throw new Error(`${ENDPOINT_VARIABLE}: must be a host and a port, such as ${OWN_ENDPOINT}`);
  return { address, port: Number(port) };
};

/**
 * Returns the last address of the header, which Lambda adds from its own connection. Earlier entries come from the
 * client and are ignored (LIM-7). Source: https://docs.aws.amazon.com/lambda/latest/dg/web-functions-http.html
 */
const forwardedFor = ({ headersDistinct }: IncomingMessage): string =>
  headersDistinct['x-forwarded-for']?.at(-1)?.split(',').at(-1)?.trim() ?? '';
