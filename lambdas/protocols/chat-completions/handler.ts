import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { answerTokensOf, promptTokensOf } from '../../core/pricing/token-usage.ts';
import { type GeneratedText, generateText } from '../../core/text/generate-text.ts';
import type { Receipt } from '../../core/text/settle.ts';
import type { TextPorts } from '../../core/text/text-ports.ts';
import type { TextOrder } from '../../core/text/text-request.ts';
import { markAsCut } from '../../http/cut-answers.ts';
import { eventStreamHeaders } from '../../http/event-stream.ts';
import {
  admissionOf,
  type Exchange,
  type GatewayResponse,
  json,
  type RouteHandler,
  type Summary,
} from '../../http/exchange.ts';
import { alternativesIn } from '../alternatives.ts';
import { capHeaders, receiptHeaders } from '../receipt-headers.ts';
import { toTextOrder } from './request.ts';
import { toChatCompletion } from './response.ts';
import { createChatStream } from './stream.ts';

export interface ChatOptions {
  readonly text: TextPorts;
  /** Told once when a stream's last byte has been written and its money is settled. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** POST /v1/chat/completions. */
export const createChatCompletions =
  ({ text, finished }: ChatOptions): RouteHandler =>
  async (exchange) => {
    const { requestId, hostEndsAtMs, summary, body } = exchange;
    if (!body) throw new Error('a chat request without a body');
    refuseHeaders(exchange.event.headers);
    const now = text.ledger.clock.now();
    const parsed = toTextOrder(body.json, body.bytes, alternativesIn(text.catalog, 'chat_completions', now));
    // The log names models of the catalog only, never what a client wrote in that place.
    const order: TextOrder = {
      ...parsed,
      prepare: (model) => {
        summary.model = model.id;
        return parsed.prepare(model);
      },
    };
    if (order.endUser !== undefined) summary.endUser = order.endUser;
    const { accountId } = admissionOf(exchange);
    const generated = await generateText(text, { accountId, requestId, hostEndsAtMs }, order);
    summary.firstByteMs = text.ledger.clock.now() - exchange.startedAtMs;
    return generated.kind === 'stream'
      ? stream(text, exchange, generated, finished)
      : answer(text, exchange, generated);
  };

/** A client that sends one of these counts on what it asks for: another answer than it expects could cost it money twice. */
const notServed = ['idempotency-key', 'x-service-dry-run', 'x-service-fallback-model'] as const;

const refuseHeaders = (headers: Readonly<Record<string, string | undefined>>): void => {
  const sent = notServed.find((name) => headers[name] !== undefined);
  if (sent) throw invalidRequest(sent, `${sent}: this header is not served here. Leave it out.`);
};

type Answered = Extract<GeneratedText, { kind: 'answer' }>;
type Streamed = Extract<GeneratedText, { kind: 'stream' }>;

const answer = (
  { ledger }: TextPorts,
  { requestId, summary }: Exchange,
  { answer: sent, receipt, chosenCap, model }: Answered,
): GatewayResponse => {
  tell(summary, receipt);
  return json(200, toChatCompletion(sent.body, model.id, requestId, ledger.clock.now()), {
    ...receiptHeaders(receipt),
    ...capHeaders(chosenCap),
  });
};

const stream = (
  { ledger }: TextPorts,
  exchange: Exchange,
  { stream: upstream, chosenCap }: Streamed,
  finished: ChatOptions['finished'],
): GatewayResponse => {
  const { summary, requestId, startedAtMs } = exchange;
  const { events, sink } = createChatStream(ledger.clock, {
    fail: (error: GatewayError) => {
      summary.errorCode = error.code;
      if (error.cause !== undefined) summary.cause = error.cause;
    },
    dropped: () => markAsCut(exchange.event),
    close: (receipt) => {
      if (receipt) tell(summary, receipt);
      summary.totalMs = ledger.clock.now() - startedAtMs;
      finished(requestId, summary);
    },
  });
  exchange.finishesLater = true;
  // Runs by itself to the end: the upstream never waits for this client.
  void upstream.pump(sink);
  return { statusCode: 200, headers: { ...eventStreamHeaders, ...capHeaders(chosenCap) }, body: events.body };
};

const tell = (summary: Summary, { costPicos, usage }: Receipt): void => {
  summary.costPicos = costPicos;
  if (!usage) return;
  summary.inputTokens = promptTokensOf(usage);
  summary.outputTokens = answerTokensOf(usage);
};
