import type { Exchange, GatewayResponse, Summary } from '../http/exchange.ts';
import { relayBody } from '../http/relayed-body.ts';

export interface RelayDependencies {
  readonly now: () => number;
  /** Called once, when the last byte was written or the client left. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

interface Relayed {
  readonly statusCode: number;
  /** Without the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly length: number;
}

/** A stored file as the answer; where its store breaks off in the middle, so does the answer. */
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
