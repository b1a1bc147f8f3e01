import type { Exchange, GatewayResponse, Summary } from '../http/exchange.ts';
import { relayBody } from '../http/relayed-body.ts';

export interface RelayDependencies {
  readonly now: () => number;
  /** Called once, after the last byte is written or the client has left. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

interface Relayed {
  readonly statusCode: number;
  /** Headers without the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly length: number;
}

/** Responds with a stored file. If the store fails midway, the response is cut off. */
export const relayedAnswer = (
  { now, finished }: RelayDependencies,
  exchange: Exchange,
  { statusCode, headers, bytes, length }: Relayed,
): GatewayResponse => {
  const { event, summary, requestId, startedAtMs } = exchange;
  summary.firstByteMs = now() - startedAtMs;
  exchange.finishesLater = true;
  const ended = (cause: unknown): void => {
    if (cause !== undefined) {
      summary.errorCode = 'service_unavailable';
      summary.cause = cause;
    }
    summary.totalMs = now() - startedAtMs;
    finished(requestId, summary);
  };
  return {
    statusCode,
    headers: { ...headers, 'content-length': String(length) },
    body: relayBody({ bytes, length, event, headOnly: event.requestContext.http.method === 'HEAD', ended }),
  };
};
