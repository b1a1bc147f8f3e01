import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ulid } from 'ulid';
import { type Host, type HostOptions, startHost } from './server.ts';

/** Where Lambda says that the server must listen; elsewhere a port of this machine alone. */
const ENDPOINT_VARIABLE = 'AWS_LAMBDA_HTTP_ENDPOINT';
const OWN_ENDPOINT = '127.0.0.1:8080';
/** The most that a Web Function gives a request, which is what those of the gateway are set to. */
const REQUEST_MS = 900_000;
/** Lambda kills the process a second after it has asked it to end. */
export const LAST_MS = 800;

/**
 * A host as a Lambda Web Function: a plain HTTP server that AWS forwards requests to, which has to listen within 10 s of its start.
 * https://docs.aws.amazon.com/lambda/latest/dg/web-functions-runtimes.html
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

/** As much of Node's own `process` as it takes. */
interface Asked {
  once(name: 'SIGTERM', listener: () => void): unknown;
  exit(code: number): unknown;
}

/**
 * What can end in the time that Lambda leaves ends; then the process does. Whatever was still under way has its hold, which the
 * sweeper releases (BILL-13). https://docs.aws.amazon.com/lambda/latest/dg/web-functions-env-lifecycle.html
 */
export const endWhenAsked = (host: Host, process: Asked, lastMs = LAST_MS): void => {
  process.once('SIGTERM', async () => {
    await Promise.race([Promise.all([host.stop(lastMs), host.idle()]), setTimeout(lastMs)]);
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
