import type { IdempotencyDependencies } from '../core/idempotency/claim-store.ts';
import type { JsonObject } from '../core/json.ts';
import type { TextParams, TextProtocol } from '../core/text/conversation.ts';
import type { OutputCutter } from '../core/text/output-cutter.ts';
import type { TextDependencies } from '../core/text/text-candidates.ts';
import type { TextSink } from '../core/text/text-stream.ts';
import type { WireAnswer } from '../core/text/text-wire.ts';
import type { Exchange, Summary } from '../http/exchange.ts';
import type { Alternatives } from './alternatives.ts';
import type { PaidHeaderRules } from './paid-request.ts';

export interface TextRouteDependencies {
  readonly text: TextDependencies;
  readonly idempotency: IdempotencyDependencies;
  /** Called once, after the last byte of a stream is written and the money is settled. */
  readonly finished: (requestId: string, summary: Summary) => void;
}

/** Context for rendering a response. */
export interface AnswerContext {
  /** Catalog id of the model that responded. */
  readonly modelId: string;
  readonly requestId: string;
  readonly nowMs: number;
  /** Whether a stream has its usage in a chunk of its own (CHAT-11). */
  readonly separateUsage?: boolean;
}

/** Part of a text route that differs by protocol. */
export interface TextProtocolAdapter {
  readonly protocol: TextProtocol;
  /** Headers that the protocol supports. Undefined means neither idempotency keys nor fallback models. */
  readonly headers?: PaidHeaderRules;
  /** Checks the request as far as possible without a model. Throws the 400 or 422 that names the field. */
  toParams(
    exchange: Exchange & { readonly body: NonNullable<Exchange['body']> },
    alternatives: Alternatives,
  ): TextParams;
  /** Body of a complete response. */
  toBody(answer: WireAnswer, context: AnswerContext): string;
  toStream(context: StreamContext): StreamRenderer;
  /** Whether the body requests the usage of a stream in a chunk of its own. */
  separatesUsage?(body: JsonObject): boolean;
  /** Creates what cuts one response at these stop sequences. Undefined if no request of the protocol needs it. */
  createCutter?(sequences: readonly string[]): OutputCutter;
  /** Whether the response is a stream, for protocols in which the body's `stream` does not decide. */
  readonly streams?: boolean;
  /** Headers of a stream, if it does not consist of server-sent events. */
  readonly streamHeaders?: Readonly<Record<string, string>>;
  /** Text that is written after 15 s of silence. Default: a comment of server-sent events. */
  readonly keepAlive?: string;
}

/** Renders events in one protocol. It has no `close`, because nothing follows an ending or an error. */
export type StreamRenderer = Pick<TextSink, 'native' | 'neutral' | 'finish' | 'fail'>;

export interface StreamContext extends AnswerContext {
  /** Sends text to the client. The text consists of complete events. */
  readonly write: (text: string) => void;
}
