import type { IdempotencyDependencies } from '../core/idempotency/claim-store.ts';
import type { TextParams, TextProtocol } from '../core/text/conversation.ts';
import type { TextDependencies } from '../core/text/text-candidates.ts';
import type { TextSink } from '../core/text/text-stream.ts';
import type { WireAnswer } from '../core/text/text-wire.ts';
import type { Exchange, Summary } from '../http/exchange.ts';
import type { Alternatives } from './alternatives.ts';
import type { PaidHeaderRules } from './paid-request.ts';

export interface TextRouteDependencies {
  readonly text: TextDependencies;
  readonly idempotency: IdempotencyDependencies;
  /** Called once, when the last byte of a stream was written and its money is settled. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** What an answer is put into words with. */
export interface AnswerContext {
  /** The catalog's id of the model that answered. */
  readonly modelId: string;
  readonly requestId: string;
  readonly nowMs: number;
}

/** What one protocol for text adds to the way that all of them go. */
export interface TextProtocolAdapter {
  readonly protocol: TextProtocol;
  /** The headers it serves beside its body; without it neither keys nor reserves. */
  readonly headers?: PaidHeaderRules;
  /** Checks the request as far as it can be without a model. Throws the 400 or 422 that names the field. */
  toParams(
    exchange: Exchange & { readonly body: NonNullable<Exchange['body']> },
    alternatives: Alternatives,
  ): TextParams;
  /** The body of a whole answer. */
  toBody(answer: WireAnswer, context: AnswerContext): string;
  toStream(context: StreamContext): StreamRenderer;
  /** Whether it answers with a stream, where that is not for the body's `stream` to say. */
  readonly streams?: boolean;
  /** Headers of a stream, if they differ from those of server-sent events. */
  readonly streamHeaders?: Readonly<Record<string, string>>;
  /** Text that is sent after 15 s of silence, if it is not a comment. */
  readonly keepAlive?: string;
}

/** How events look in one protocol. `close` is not its business: nothing follows an ending or an error. */
export type StreamRenderer = Pick<TextSink, 'native' | 'neutral' | 'finish' | 'fail'>;

export interface StreamContext extends AnswerContext {
  /** Text for the client, whole events of it. */
  readonly write: (text: string) => void;
}
