import type { Provider, TextModel, Upstream } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';
import type { TokenUsage } from '../pricing/token-usage.ts';
import type { TextProtocol, TextRequest } from './text-request.ts';

export interface WireCall {
  readonly protocol: TextProtocol;
  readonly request: TextRequest;
  readonly model: TextModel;
  readonly upstream: Upstream;
  readonly provider: Provider;
  /** The cap the hold was computed from; it always goes upstream (BILL-6). */
  readonly outputTokensMax: number;
  /** Aborted when the upstream's time is over. Its reason is the GatewayError to end with. */
  readonly signal: AbortSignal;
}

/** A whole answer in the client's protocol. */
export interface WireAnswer {
  readonly kind: 'answer';
  readonly body: JsonObject;
  readonly usage: TokenUsage | undefined;
}

/**
 * `raw` is one event in the client's protocol, ready to be sent; an `opening` one says that an answer begins and nothing of it
 * yet. `end` is the last: the event held back for it, the
 * vendor's own usage object to put in, and the counts to charge. A stream that does not end with `end` throws GatewayError.
 */
export type WireEvent =
  | { readonly kind: 'raw'; readonly data: string; readonly opening?: boolean }
  | {
      readonly kind: 'end';
      readonly held: JsonObject;
      readonly reportedUsage: JsonObject | undefined;
      readonly usage: TokenUsage | undefined;
    };

export interface WireStream {
  readonly kind: 'stream';
  readonly events: AsyncIterator<WireEvent, void>;
  /** Called once when nothing more is read, however it ended. */
  close(): void;
}

/**
 * One vendor protocol. `send` makes exactly one call and answers once the status line is known to be good; a refusal is
 * thrown as the GatewayError the client is to get (ERR-9). Nothing is ever sent twice (GEN-5).
 */
export interface TextWire {
  send(call: WireCall): Promise<WireAnswer | WireStream>;
}
