import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal, Scenario } from './scenario.ts';

/** Endpoint of a simulated provider. Another provider is another value of this type. */
export type Wire = {
  readonly method: 'GET' | 'POST';
  /** Matched against the path without the query. */
  readonly path: RegExp;
  isAuthorized(headers: IncomingHttpHeaders, query: URLSearchParams): boolean;
  /** Text that is searched for scenario markers. The body is not validated yet. */
  lastUserText(body: unknown, request: WireRequest): string;
  /** The provider's answer to a good request; a bad one is a thrown `VendorRefusal`. */
  answer(request: WireRequest, scenario: Scenario): Answer;
  /** How this provider words a failure. */
  refuse(refusal: Refusal, request: WireRequest): VendorRefusal;
  /** Framed error in the middle of a stream, after this many events. */
  errorFrame(request: WireRequest, eventsSent: number): string;
  /** Headers of every response, also of errors. */
  headers(requestId: string): Readonly<Record<string, string>>;
};

export type WireRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. Undefined if the body is not JSON. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
};

export type Answer =
  | { readonly kind: 'plain'; readonly contentType: string; readonly body: string | Uint8Array }
  | { readonly kind: 'stream'; readonly contentType: string; readonly frames: Iterable<Frame> }
  | {
      readonly kind: 'file';
      readonly contentType: string;
      /** Declared length, whatever follows. */
      readonly length: number;
      readonly pieces: Iterable<Piece>;
    };

/** One write of a stream. The marks say where a cut after the usage falls. */
export type Frame = { readonly text: string; readonly mark?: 'usage' | 'end' };

/** One write of a file, this many ms after the previous one. After the last one the connection may break. */
export type Piece = { readonly bytes: Uint8Array; readonly pauseMs?: number; readonly breaks?: boolean };

export class VendorRefusal extends Error {
  readonly status: number;
  /** Sent unchanged if it is a string, otherwise as JSON. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`The simulated provider returns ${status}.`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export function jsonAnswer(body: unknown): Answer {
  return { kind: 'plain', contentType: 'application/json', body: JSON.stringify(body) };
}
