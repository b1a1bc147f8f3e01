import type { Clock } from '../core/clock.ts';
import { endCut, markAsCut } from './cut-answers.ts';
import { EventStream } from './event-stream.ts';
import type { Exchange, GatewayResponse, Opening, RouteHandler, Summary } from './exchange.ts';
import { releaseRequest } from './release-request.ts';
import { toGatewayError } from './render-error.ts';
import { tellError } from './tell-error.ts';

/** Before the door gives up. */
const BEGUN_BEFORE_MS = 20_000;

export interface EarlyPorts {
  readonly clock: Clock;
  readonly finished: (requestId: string, summary: Summary) => void;
}

/**
 * What the handler answers; or, where it is silent for so long that something before this program would give up, the beginning of an
 * answer, which says what became of the request once that is known (CHAT-11, ERR-6). The request itself goes on as ever.
 */
export const answerInTime = async (
  ports: EarlyPorts,
  exchange: Exchange,
  handler: RouteHandler,
): Promise<GatewayResponse> => {
  const pending = handler(exchange);
  const { opening, patience, cameWholeAtMs } = exchange;
  if (!opening || !patience) return pending;
  const { clock } = ports;
  return new Promise((resolve, reject) => {
    const leftMs = cameWholeAtMs + patience.silenceMs - BEGUN_BEFORE_MS - clock.now();
    const cancel = clock.after(Math.max(0, leftMs), () => {
      // A stream of the handler's own is on its way already.
      if (!exchange.finishesLater) resolve(begin(ports, exchange, opening, pending));
    });
    pending.finally(cancel).then(resolve, reject);
  });
};

const begin = (
  ports: EarlyPorts,
  exchange: Exchange,
  opening: Opening,
  pending: Promise<GatewayResponse>,
): GatewayResponse => {
  const begun = new EventStream(ports.clock, undefined, opening.keepAlive);
  begun.write(opening.keepAlive);
  exchange.begun = begun;
  exchange.finishesLater = true;
  void finish(ports, exchange, begun, restOf(exchange, opening, begun, pending));
  return { statusCode: 200, headers: { ...opening.headers }, body: begun.body };
};

/** What is left to say; undefined where the answer writes itself, and tells of its own end. */
const restOf = async (
  exchange: Exchange,
  { failure, rest }: Opening,
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
    tellError(exchange.summary, error);
    return failure(error);
  } finally {
    releaseRequest(exchange);
  }
};

/** Never fails: nobody waits for it. */
const finish = async (
  { clock, finished }: EarlyPorts,
  { event, requestId, summary, startedAtMs }: Exchange,
  begun: EventStream,
  rest: Promise<string | undefined>,
): Promise<void> => {
  try {
    const text = await rest.catch((bug: unknown) => {
      // What cannot be put into words must not look like a good end.
      summary.cause = bug;
      markAsCut(event);
      return '';
    });
    if (text === undefined) return;
    begun.write(text);
    summary.totalMs = clock.now() - startedAtMs;
    // What is left after a body's end may never run.
    finished(requestId, summary);
  } catch {
    markAsCut(event);
  }
  begun.end();
  endCut(event);
};
