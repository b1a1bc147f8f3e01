import type { Provider, TextModel, Upstream } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';
import type { TokenUsage } from '../pricing/charge.ts';
import type { TextProtocol, TextRequest, ToolCall } from './conversation.ts';

export interface WireCall {
  readonly protocol: TextProtocol;
  readonly request: TextRequest;
  readonly model: TextModel;
  readonly upstream: Upstream;
  readonly provider: Provider;
}

/** Data that is known after the hold was placed. */
export interface Dispatch {
  /** The cap the hold was computed from; it always goes upstream (BILL-6). */
  readonly outputTokensMax: number;
  /** Aborted when the upstream's time is over. Its reason is the GatewayError to end with. */
  readonly signal: AbortSignal;
}

/**
 * A whole answer. `native` is one in the client's protocol: as the vendor sent it but for the model's id, and the same parsed.
 * `neutral` is one that the client's protocol has to put into words.
 */
export interface WireAnswer {
  readonly kind: 'answer';
  readonly content:
    | { readonly kind: 'native'; readonly text: string; readonly body: JsonObject }
    | { readonly kind: 'neutral'; readonly answer: TextAnswer };
  readonly usage: TokenUsage | undefined;
}

/** How a good stream ends. Nothing of it has gone to the client before the request is charged. */
export type Ending =
  /** The last events in the client's protocol, ready to be sent. */
  | { readonly kind: 'native'; readonly events: readonly string[] }
  /** An event that the protocol completes with the vendor's own usage and the cost. */
  | { readonly kind: 'deferred'; readonly event: JsonObject; readonly reportedUsage: JsonObject | undefined }
  | { readonly kind: 'neutral'; readonly finishReason: FinishReason };

/**
 * `native`: events in the client's protocol, in the form its sink takes (TextSink). `neutral`: pieces it has to put into words.
 * `opening`: so far the answer has only been announced. `end` is the last. A stream that does not end with `end` throws
 * GatewayError.
 */
export type WireEvent =
  | { readonly kind: 'native'; readonly events: readonly string[]; readonly announcement?: boolean }
  | { readonly kind: 'neutral'; readonly deltas: readonly TextDelta[]; readonly announcement?: boolean }
  | { readonly kind: 'end'; readonly ending: Ending; readonly usage: TokenUsage | undefined };

export interface WireStream {
  readonly kind: 'stream';
  readonly events: AsyncIterator<WireEvent, void>;
  /** Called once when nothing more is read, however it ended. */
  close(): void;
}

export interface PreparedCall {
  /** Fetches what the vendor takes only as bytes, before money is held. Throws `invalid_image_format` (CHAT-6). */
  gather?(): Promise<void>;
  /**
   * Makes exactly one call and answers once the status line is known to be good; a refusal is thrown as the GatewayError the
   * client is to get (ERR-9). Nothing is ever sent twice (GEN-5).
   */
  send(dispatch: Dispatch): Promise<WireAnswer | WireStream>;
}

/** One vendor protocol. */
export interface TextWire {
  /** Throws the 400 or 422 for what this vendor cannot do. Nothing is sent, nothing fetched. */
  buildCall(call: WireCall): PreparedCall;
}

/** `length`: the cap or the context was reached. A blocked answer has none: it is thrown as content_filter (CHAT-14). */
export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** A whole answer in the core's own terms. */
export interface TextAnswer {
  /** Null when there is none beside the calls. */
  readonly text: string | null;
  /** The model declined, in its own words. */
  readonly refusal: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
}

/** A piece of a streamed answer in the core's own terms. */
export type TextDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  /** The nth call begins, counted from 0. */
  | {
      readonly kind: 'tool_call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly signature?: string;
    }
  /** A further fragment of that call's JSON. */
  | { readonly kind: 'tool_arguments'; readonly index: number; readonly text: string };
