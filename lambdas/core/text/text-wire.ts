import type { Provider, TextModel, Upstream } from '../catalog/schema.ts';
import type { ImageMediaType } from '../image-type.ts';
import type { JsonObject } from '../json.ts';
import type { RequestMemory } from '../limits/request-memory.ts';
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
  /** Output limit of the hold. It is always sent to the provider (BILL-6). */
  readonly outputTokensMax: number;
  /** Aborted at the upstream's timeout. Its reason is the GatewayError for the client. */
  readonly signal: AbortSignal;
}

/**
 * A complete response. `native` is in the client's protocol: the provider's text with the model id replaced, and the
 * same parsed. `neutral` must be rendered in the client's protocol.
 */
export interface WireAnswer {
  readonly kind: 'answer';
  readonly content:
    | { readonly kind: 'native'; readonly text: string; readonly body: JsonObject }
    | { readonly kind: 'neutral'; readonly answer: TextAnswer };
  readonly usage: TokenUsage | undefined;
}

/** End of a successful stream. None of it is sent to the client before the request is charged. */
export type Ending =
  /** Last events in the client's protocol, ready to be sent. */
  | { readonly kind: 'native'; readonly events: readonly string[] }
  /** An event that the protocol completes with the provider's usage and the cost. */
  | { readonly kind: 'deferred'; readonly event: JsonObject; readonly reportedUsage: JsonObject | undefined }
  | { readonly kind: 'neutral'; readonly finishReason: FinishReason };

/**
 * Event of a stream. `native`: events in the client's protocol, in the form that `TextSink` describes. `neutral`:
 * deltas that must be rendered. `announcement`: the response was announced and has no content yet. `end`: the last
 * event. The iterator throws a GatewayError if the provider's stream ends before it is complete.
 */
export type WireEvent =
  | { readonly kind: 'native'; readonly events: readonly string[]; readonly announcement?: boolean }
  | { readonly kind: 'neutral'; readonly deltas: readonly TextDelta[]; readonly announcement?: boolean }
  | { readonly kind: 'end'; readonly ending: Ending; readonly usage: TokenUsage | undefined };

export interface WireStream {
  readonly kind: 'stream';
  readonly events: AsyncIterator<WireEvent, void>;
  /** Called once when reading has ended, however the response ended. */
  close(): void;
  /** Returns the usage that the provider has reported so far, which can miss most of the output. */
  usageSoFar(): TokenUsage | undefined;
}

export interface FetchedImage {
  readonly mediaType: ImageMediaType;
  readonly bytes: Buffer;
}

/** Images that a request has fetched, and their memory. All models of the request share them. */
export interface FetchedImages {
  readonly byUrl: Map<string, FetchedImage>;
  readonly memory: RequestMemory;
}

export interface PreparedCall {
  /** Smallest output limit that the provider accepts. A smaller one is raised to it (BILL-6). */
  readonly outputTokensMin?: number | undefined;
  /**
   * Fetches images that the provider accepts only as bytes, before the hold. Throws `invalid_image_format` (CHAT-6), and
   * `service_unavailable` without memory (GEN-14).
   */
  gather?(fetched: FetchedImages): Promise<void>;
  /**
   * Makes exactly one call and returns after a successful status line. Throws the GatewayError for the client if the
   * provider rejects the request (ERR-9). Never sends anything twice (GEN-5).
   */
  send(dispatch: Dispatch): Promise<WireAnswer | WireStream>;
}

/** Protocol of a provider for text. */
export interface TextWire {
  /** Throws the 400 or 422 for a request that this provider cannot serve. Sends and fetches nothing. */
  buildCall(call: WireCall): PreparedCall;
}

/**
 * `length`: the output limit or the context was reached. `content_filter`: a stream was blocked after content. Every
 * other blocked response is thrown as that error (CHAT-14).
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A complete response, independent of the client's protocol. */
export interface TextAnswer {
  /** Null if the response contains only tool calls. */
  readonly text: string | null;
  /** Refusal of the model in its own words. */
  readonly refusal: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
}

/** A piece of a streamed response, independent of the client's protocol. */
export type TextDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  /** The call with this index begins, counted from 0. */
  | {
      readonly kind: 'tool_call';
      readonly index: number;
      readonly id: string;
      readonly name: string;
      readonly signature?: string;
    }
  /** A further fragment of that call's JSON. */
  | { readonly kind: 'tool_arguments'; readonly index: number; readonly text: string };
