import type { Readable } from 'node:stream';
import type { Clock } from '../core/clock.ts';
import type { GeneratedText } from '../core/text/generate-text.ts';
import type { TextSink } from '../core/text/text-stream.ts';
import { endCut, markAsCut, onClientLeft } from '../http/cut-answers.ts';
import { EventStream, eventStreamHeaders, KEEP_ALIVE } from '../http/event-stream.ts';
import type { EarlyResponse, Exchange, GatewayResponse, Summary } from '../http/exchange.ts';
import { recordError } from '../http/render-error.ts';
import { factHeaders, recordReceipt } from './paid-response.ts';
import type { AnswerContext, TextProtocolAdapter, TextRouteDependencies } from './text-adapter.ts';

type Streamed = Extract<GeneratedText, { kind: 'stream' }>;

/** Dependencies of a live response. */
interface LiveDependencies {
  readonly clock: Clock;
  /** Called once, after the last byte is written and the money is settled. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** One response body that a pump writes. */
interface LiveBody {
  readonly body: Readable;
  /** Starts the pump. `log` records its error and its receipt. */
  readonly pump: (log: Pick<TextSink, 'fail' | 'close'>) => Promise<void>;
  /** Ends the body. Called once the pump is over and the request log is written. */
  readonly end: () => void;
  /** Called if `end` or the request log throws. */
  readonly abort: () => void;
}

/**
 * Runs the pump of a response and returns its body. If the client leaves, the pump reads the provider to its end, and
 * the body drops what it gets (BILL-8). `open` receives the function to call when the body stops taking bytes.
 */
export const pumpLive = (
  { clock, finished }: LiveDependencies,
  exchange: Exchange,
  open: (drop: () => void) => LiveBody,
): Readable => {
  const { summary, requestId, startedAtMs, event } = exchange;
  let ended = false;
  const detach = (): void => {
    if (ended) return;
    if (summary.trace) summary.trace.clientLeft = true;
  };
  const { body, pump, end, abort } = open(() => {
    markAsCut(event);
    detach();
  });
  onClientLeft(event, detach);
  exchange.finishesLater = true;
  if (summary.trace) summary.trace.streamed = true;
  const pumping = pump({
    fail: (error) => recordError(summary, error),
    close: (receipt) => {
      if (receipt) recordReceipt(summary, receipt);
    },
  });
  void pumping
    .catch((bug: unknown) => {
      // A defect of the gateway must neither end the process nor look like a complete response.
      summary.cause = bug;
      markAsCut(event);
    })
    .finally(() => {
      ended = true;
      summary.totalMs = clock.now() - startedAtMs;
      try {
        // Lambda may freeze the process after the end of the body.
        finished(requestId, summary);
      } finally {
        end();
      }
    })
    .catch(abort);
  return body;
};

/** A streamed text. The pump reads the provider to its end and never waits for this client. */
export const streamedAnswer = (
  { text: { ledger }, finished }: TextRouteDependencies,
  adapter: TextProtocolAdapter,
  exchange: Exchange,
  { model, stream, chosenCap, fallbackFrom, ignored }: Streamed,
  context: AnswerContext,
): GatewayResponse => {
  const { event } = exchange;
  const events = exchange.startedResponse ?? new EventStream(ledger.clock, undefined, adapter.keepAlive);
  const body = pumpLive({ clock: ledger.clock, finished }, exchange, (drop) => {
    events.onDrop = drop;
    const rendered = adapter.toStream({ ...context, write: (text) => events.write(text) });
    return {
      body: events.body,
      pump: (log) =>
        stream.pump({
          ...rendered,
          fail: (error) => {
            log.fail(error);
            rendered.fail(error);
          },
          close: log.close,
        }),
      end: () => {
        events.end();
        endCut(event);
      },
      abort: () => markAsCut(event),
    };
  });
  const facts = factHeaders({ modelId: model.id, chosenCap, fallbackFrom, ignored });
  return { statusCode: 200, headers: { ...headersOf(adapter), ...facts }, body };
};

const headersOf = ({ streamHeaders = eventStreamHeaders }: TextProtocolAdapter): Readonly<Record<string, string>> =>
  streamHeaders;

/** CHAT-11: a stream that starts before its first event, or an error instead. */
export const streamEarlyResponse = (
  adapter: TextProtocolAdapter,
  { requestId, startedAtMs }: Exchange,
): EarlyResponse => ({
  headers: headersOf(adapter),
  keepAlive: adapter.keepAlive ?? KEEP_ALIVE,
  failure: (error) => {
    let written = '';
    const write = (text: string): void => {
      written += text;
    };
    // Needs no model id: an error does not contain it, and the gateway may not have chosen a model yet.
    adapter.toStream({ modelId: '', requestId, nowMs: startedAtMs, write }).fail(error);
    return written;
  },
});
