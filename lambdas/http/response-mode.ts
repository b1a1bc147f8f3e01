import type { Readable, Writable } from 'node:stream';
import type { PluginExecutionMode } from '@middy/core';
import type { GatewayResponse } from './exchange.ts';

type LambdaHandler = (...call: unknown[]) => unknown;

interface Plugin {
  readonly requestStart: (request: unknown) => void;
  readonly requestEnd: (request: unknown) => unknown;
}

interface Engine {
  readonly middyRequest: (event: unknown, context: unknown) => unknown;
  readonly runRequest: (request: unknown, ...chain: unknown[]) => Promise<GatewayResponse>;
}

/** Arguments that the library passes to an execution mode. Its types declare none. */
type Chain = readonly [
  engine: Engine,
  before: unknown,
  handler: LambdaHandler,
  after: unknown,
  onError: unknown,
  plugin: Plugin,
];

const isChain = (chain: readonly unknown[]): chain is Chain => chain.length === 6;

/**
 * Execution mode of the library for responses that are streamed. Runs the chain as the library's own mode does, but
 * forwards a body without `pipeline`, which aborts a signal at the end of each response, and so costs as much as ten
 * events.
 */
export const streamedResponse: PluginExecutionMode = (...chain: readonly unknown[]) => {
  if (!isChain(chain)) throw new TypeError('the library passed other arguments to its execution mode');
  const [{ middyRequest, runRequest }, before, initial, after, onError, plugin] = chain;
  let handler = initial;
  const middy = awslambda.streamifyResponse(async (event, stream, context) => {
    const request = middyRequest(event, context);
    plugin.requestStart(request);
    try {
      const { statusCode, headers, body } = await runRequest(request, before, handler, after, onError, plugin);
      const response = awslambda.HttpResponseStream.from(stream, { statusCode, headers });
      // Lambda sends the status and the headers with the first write.
      response.write('');
      await (typeof body === 'string' ? writeText(response, body) : forward(body, response));
    } finally {
      const ending = plugin.requestEnd(request);
      if (ending) await ending;
    }
  });
  return Object.assign(middy, {
    handler: (replacement: LambdaHandler) => {
      handler = replacement;
      return middy;
    },
  });
};

/** Characters of one write, so that a slow client does not hold a second copy of a long body in memory. */
const SLICE_LENGTH = 16 * 1024;

/** Rejects if the response breaks, or closed before. */
const writeText = (response: Writable, body: string): Promise<void> =>
  body.length <= SLICE_LENGTH ? writeEnd(response, body) : writeSlices(response, body);

const writeSlices = async (response: Writable, body: string): Promise<void> => {
  let at = 0;
  for (let end = endOfSlice(body, at); end < body.length; end = endOfSlice(body, at)) {
    if (response.destroyed) break;
    if (!response.write(body.slice(at, end))) await drained(response);
    at = end;
  }
  await writeEnd(response, body.slice(at));
};

const writeEnd = (response: Writable, rest: string): Promise<void> =>
  new Promise((resolve, reject) => {
    // A stream that is already closed never calls back.
    if (response.destroyed) return reject(closedEarly('response'));
    response.on('error', reject);
    if (rest !== '') response.write(rest);
    response.end((error?: Error | null) => (error ? reject(error) : resolve()));
  });

/** Half of a surrogate pair would be sent as another character, with another length. */
const endOfSlice = (body: string, at: number): number => {
  const end = Math.min(at + SLICE_LENGTH, body.length);
  const last = body.charCodeAt(end - 1);
  return end < body.length && last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
};

/** Rejects if the response breaks or closes. */
const drained = (response: Writable): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      response.off('drain', onDrain).off('error', onError).off('close', onClose);
      end();
    };
    const onDrain = (): void => settle(resolve);
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(closedEarly('response')));
    response.on('drain', onDrain).on('error', onError).on('close', onClose);
  });

const closedEarly = (side: 'response' | 'body'): Error => new Error(`the ${side} closed before its end`);

/** Rejects if either side breaks, and then destroys both. */
const forward = (body: Readable, response: Writable): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      body.destroy();
      response.destroy();
      reject(error);
    };
    response.on('drain', () => body.resume());
    response.on('error', fail);
    response.on('finish', resolve);
    response.on('close', () => {
      if (!response.writableFinished) fail(closedEarly('response'));
    });
    body.on('error', fail);
    body.on('close', () => {
      if (!body.readableEnded) fail(closedEarly('body'));
    });
    body.on('end', () => response.end());
    body.on('data', (piece: Buffer) => {
      if (!response.write(piece)) body.pause();
    });
    if (body.destroyed || response.destroyed) fail(closedEarly(body.destroyed ? 'body' : 'response'));
  });
