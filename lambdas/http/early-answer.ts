import type { Clock } from '../core/clock.ts';
import type { AnswerBy } from '../core/paid-call/dependencies.ts';
import { endCut, markAsCut } from './cut-answers.ts';
import { EventStream } from './event-stream.ts';
import {
  type EarlyResponse,
  type Exchange,
  type GatewayResponse,
  json,
  type RouteHandler,
  releaseRequest,
  type Summary,
} from './exchange.ts';
import { formatOf, recordError, toErrorBody, toGatewayError } from './render-error.ts';

/** Time in ms before the front door's timeout at which a response starts early. */
const BEGUN_BEFORE_MS = 20_000;

interface EarlyDependencies {
  readonly clock: Clock;
  readonly finished: (requestId: string, summary: Summary) => void;
}

/**
 * Returns the handler's response. If the handler is silent for so long that a front door would time out, returns the
 * start of a response instead, which delivers the result once it is known (CHAT-11, ERR-6). The request itself
 * continues.
 */
export const answerInTime = (
  deps: EarlyDependencies,
  exchange: Exchange,
  handler: RouteHandler,
): Promise<GatewayResponse> => {
  const pending = handler(exchange);
  const { earlyResponse, frontDoorTimeouts, receivedAtMs } = exchange;
  if (!earlyResponse || !frontDoorTimeouts) return pending;
  const { clock } = deps;
  return new Promise((resolve, reject) => {
    const leftMs = receivedAtMs + frontDoorTimeouts.silenceMs - BEGUN_BEFORE_MS - clock.now();
    const cancel = clock.after(Math.max(0, leftMs), () => {
      // The handler has already started its own stream.
      if (!exchange.finishesLater) resolve(begin(deps, exchange, earlyResponse, pending));
    });
    pending.finally(cancel).then(resolve, reject);
  });
};

const begin = (
  deps: EarlyDependencies,
  exchange: Exchange,
  opening: EarlyResponse,
  pending: Promise<GatewayResponse>,
): GatewayResponse => {
  const begun = new EventStream(deps.clock, undefined, opening.keepAlive);
  begun.write(opening.keepAlive);
  exchange.startedResponse = begun;
  exchange.finishesLater = true;
  void finish(deps, exchange, begun, restOf(exchange, opening, begun, pending));
  return { statusCode: 200, headers: { ...opening.headers }, body: begun.body };
};

/** Returns the rest of the response. Undefined if the handler writes the response itself and reports its own end. */
const restOf = async (
  exchange: Exchange,
  { failure, rest }: EarlyResponse,
  begun: EventStream,
  pending: Promise<GatewayResponse>,
): Promise<string | undefined> => {
  try {
    const { statusCode, body } = await pending;
    if (body === begun.body) return undefined;
    if (typeof body !== 'string' || !rest) throw new Error('a response does not have the form in which it started');
    return rest(statusCode, body);
  } catch (thrown) {
    const error = toGatewayError(thrown);
    recordError(exchange.summary, error);
    return failure(error);
  } finally {
    releaseRequest(exchange);
  }
};

/** Never fails, because no caller waits for it. */
const finish = async (
  { clock, finished }: EarlyDependencies,
  { event, requestId, summary, startedAtMs }: Exchange,
  begun: EventStream,
  rest: Promise<string | undefined>,
): Promise<void> => {
  try {
    const text = await rest.catch((bug: unknown) => {
      // The response contains no text that reports the failure, so it is cut and cannot look like a success.
      summary.cause = bug;
      markAsCut(event);
      return '';
    });
    if (text === undefined) return;
    begun.write(text);
    summary.totalMs = clock.now() - startedAtMs;
    // Code after the end of a body may never run, because Lambda can freeze the process.
    finished(requestId, summary);
  } catch {
    markAsCut(event);
  }
  begun.end();
  endCut(event);
};

/**
 * Time before the front door's timeout in ms at which a response that cannot start early fails, so that its status
 * still arrives.
 */
const REFUSED_BEFORE_MS = 10_000;

/**
 * Time before the front door's timeout in ms at which plain text must be complete, and audio must start or continue,
 * because they have no place for a keep-alive (LIM-6). The rest is for the charge, which precedes the last bytes.
 */
const BYTES_BEFORE_MS = 15_000;

/** Form of a response, which decides whether it can start before its result is known. */
type AnswerForm =
  | { readonly kind: 'stream'; readonly opening: EarlyResponse }
  | { readonly kind: 'json' }
  /** Sent as a whole. */
  | { readonly kind: 'bytes' }
  /** Sent as they arrive. */
  | { readonly kind: 'pieces' };

/**
 * Plans the response of a route whose front door times out during silence: either prepares an early start, or returns
 * the time at which the use case must have its result. Call it before the handler first waits.
 */
export const planAnswer = (exchange: Exchange, form: AnswerForm): AnswerBy | undefined => {
  const { frontDoorTimeouts, receivedAtMs } = exchange;
  if (!frontDoorTimeouts) return undefined;
  const by = (beforeMs: number): number => receivedAtMs + frontDoorTimeouts.silenceMs - beforeMs;
  switch (form.kind) {
    case 'bytes':
      return { atMs: by(BYTES_BEFORE_MS), covers: 'all' };
    case 'pieces': {
      const silenceMs = frontDoorTimeouts.silenceMs - BYTES_BEFORE_MS;
      return { atMs: by(BYTES_BEFORE_MS), covers: 'silence', silenceMs };
    }
    case 'stream':
      if (!frontDoorTimeouts.commitsStreams) return { atMs: by(REFUSED_BEFORE_MS), covers: 'beginning' };
      exchange.earlyResponse = form.opening;
      return undefined;
    case 'json':
      if (!frontDoorTimeouts.commitsJson) return { atMs: by(REFUSED_BEFORE_MS), covers: 'all' };
      exchange.earlyResponse = jsonOpening(exchange);
      return undefined;
  }
};

/** ERR-6: makes the JSON invalid, so that no client mistakes a failure for a response. */
const NOT_JSON = '!';

const jsonOpening = ({ event, requestId }: Exchange): EarlyResponse => ({
  headers: json(200, {}).headers,
  keepAlive: ' ',
  failure: (error) => {
    const body = toErrorBody(error, formatOf(event.rawPath, event.headers), requestId);
    return JSON.stringify(body) + NOT_JSON;
  },
  // The result can be an error that another request stored, found after this response started.
  rest: (status, body) => (status < 400 ? body : body + NOT_JSON),
});
