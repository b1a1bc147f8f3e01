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

/** Before the door gives up. */
const BEGUN_BEFORE_MS = 20_000;

interface EarlyDependencies {
  readonly clock: Clock;
  readonly finished: (requestId: string, summary: Summary) => void;
}

/**
 * What the handler answers; or, where it is silent for so long that something before this program would give up, the beginning of an
 * answer, which says what became of the request once that is known (CHAT-11, ERR-6). The request itself goes on as ever.
 */
export const answerInTime = async (
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
      // A stream of the handler's own is on its way already.
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

/** What is left to say; undefined where the answer writes itself, and tells of its own end. */
const restOf = async (
  exchange: Exchange,
  { failure, rest }: EarlyResponse,
  begun: EventStream,
  pending: Promise<GatewayResponse>,
): Promise<string | undefined> => {
  try {
    const { statusCode, body } = await pending;
    if (body === begun.body) return undefined;
    if (typeof body !== 'string' || !rest) throw new Error('an answer is not of the form that it was begun in');
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
      // A failure without a text must not look like a good end.
      summary.cause = bug;
      markAsCut(event);
      return '';
    });
    if (text === undefined) return;
    begun.write(text);
    summary.totalMs = clock.now() - startedAtMs;
    // Code after the end of a body may never run.
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

/** The same for bytes and bare text, which have no place for a keep-alive at any time: all of it must be there (LIM-6). */
const BYTES_BEFORE_MS = 15_000;

/** Form of a response, which decides whether it can start before its result is known. */
type AnswerForm =
  | { readonly kind: 'stream'; readonly opening: EarlyResponse }
  | { readonly kind: 'json' }
  | { readonly kind: 'bytes' };

/**
 * Where something before this program gives up on silence: notes how the answer is begun in time, or answers by when it has to be
 * there, which is for the use case. To be called before the handler first waits.
 */
export const planAnswer = (exchange: Exchange, form: AnswerForm): AnswerBy | undefined => {
  const { frontDoorTimeouts, receivedAtMs } = exchange;
  if (!frontDoorTimeouts) return undefined;
  const by = (beforeMs: number): number => receivedAtMs + frontDoorTimeouts.silenceMs - beforeMs;
  switch (form.kind) {
    case 'bytes':
      return { atMs: by(BYTES_BEFORE_MS), covers: 'all' };
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

/** ERR-6: no parser takes JSON with this behind it, so no client takes a failure for an answer. */
const NOT_JSON = '!';

const jsonOpening = ({ event, requestId }: Exchange): EarlyResponse => ({
  headers: json(200, {}).headers,
  keepAlive: ' ',
  failure: (error) => {
    const body = toErrorBody(error, formatOf(event.rawPath, event.headers), requestId);
    return JSON.stringify(body) + NOT_JSON;
  },
  // A refusal may have been stored by another request, and found when this answer had begun.
  rest: (status, body) => (status < 400 ? body : body + NOT_JSON),
});
