import type { GatewayError } from '../core/errors/gateway-error.ts';
import type { GeneratedText } from '../core/text/generate-text.ts';
import { endCut, markAsCut, onClientLeft } from '../http/cut-answers.ts';
import { EventStream, eventStreamHeaders, KEEP_ALIVE } from '../http/event-stream.ts';
import { admissionOf, type Exchange, type GatewayResponse, type Opening } from '../http/exchange.ts';
import { tellError } from '../http/render-error.ts';
import { factHeaders, tell } from './paid-response.ts';
import type { AnswerContext, TextFace, TextRoutePorts } from './text-adapter.ts';

type Streamed = Extract<GeneratedText, { kind: 'stream' }>;

/** The answer as it arises. The upstream is read by itself to the end and never waits for this client. */
export const streamedAnswer = (
  { text: { ledger, drains }, finished }: TextRoutePorts,
  face: TextFace,
  exchange: Exchange,
  { model, stream, chosenCap, fallbackFrom, ignored }: Streamed,
  context: AnswerContext,
): GatewayResponse => {
  const { summary, requestId, startedAtMs, event } = exchange;
  const { accountId } = admissionOf(exchange);
  let endDrain: (() => void) | undefined;
  let ended = false;
  const detach = (): void => {
    if (!ended) endDrain ??= drains.begin(accountId);
  };
  const drop = (): void => {
    markAsCut(event);
    detach();
  };
  const events = exchange.begun ?? new EventStream(ledger.clock, undefined, face.keepAlive);
  events.onDrop = drop;
  const rendered = face.toStream({ ...context, write: (text) => events.write(text) });
  onClientLeft(event, detach);
  exchange.finishesLater = true;
  const pumping = stream.pump({
    ...rendered,
    fail: (error: GatewayError) => {
      tellError(summary, error);
      rendered.fail(error);
    },
    close: (receipt) => {
      if (receipt) tell(summary, receipt);
    },
  });
  void pumping
    .catch((bug: unknown) => {
      // A defect of ours in here must neither end the process nor look like a good end.
      summary.cause = bug;
      markAsCut(event);
    })
    .finally(() => {
      ended = true;
      endDrain?.();
      summary.totalMs = ledger.clock.now() - startedAtMs;
      try {
        // What is left after a body's end may never run.
        finished(requestId, summary);
      } finally {
        events.end();
        endCut(event);
      }
    })
    .catch(() => markAsCut(event));
  const facts = factHeaders({ modelId: model.id, chosenCap, fallbackFrom, ignored });
  return { statusCode: 200, headers: { ...headersOf(face), ...facts }, body: events.body };
};

const headersOf = ({ streamHeaders = eventStreamHeaders }: TextFace): Readonly<Record<string, string>> => streamHeaders;

/** CHAT-11: a stream that is begun before its first event came, or an error in its place. */
export const streamOpening = (face: TextFace, { requestId, startedAtMs }: Exchange): Opening => ({
  headers: headersOf(face),
  keepAlive: face.keepAlive ?? KEEP_ALIVE,
  failure: (error) => {
    let written = '';
    const write = (text: string): void => {
      written += text;
    };
    // An error says nothing of a model, and none may have been chosen yet.
    face.toStream({ modelId: '', requestId, nowMs: startedAtMs, write }).fail(error);
    return written;
  },
});
