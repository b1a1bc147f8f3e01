import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal, Scenario } from './scenario.ts';

/** One endpoint of one vendor: everything the server has to know to play it. A further vendor is a further value of this type. */
export type Wire = {
  readonly method: 'GET' | 'POST';
  /** Matched against the path without the query. */
  readonly path: RegExp;
  isAuthorized(headers: IncomingHttpHeaders, query: URLSearchParams): boolean;
  /** The text in which a prompt's scenario markers are looked for. The body is not checked yet. */
  lastUserText(body: unknown, request: WireRequest): string;
  /** The vendor's answer to a good request; a bad one is a thrown `VendorRefusal`. */
  answer(request: WireRequest, scenario: Scenario): Answer;
  /** How this vendor words a failure. */
  refuse(refusal: Refusal, request: WireRequest): VendorRefusal;
  /** An error in the middle of a stream, framed; so many events went before it. */
  errorFrame(request: WireRequest, eventsSent: number): string;
  /** Sent with every answer, good or bad. */
  headers(requestId: string): Readonly<Record<string, string>>;
};

export type WireRequest = {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, undefined if it is none. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
};

export type Answer =
  | { readonly kind: 'plain'; readonly contentType: string; readonly body: string | Uint8Array }
  | { readonly kind: 'stream'; readonly contentType: string; readonly frames: Iterable<Frame> }
  | {
      readonly kind: 'file';
      readonly contentType: string;
      /** Announced, whatever comes. */
      readonly length: number;
      readonly pieces: Iterable<Piece>;
    };

/** One write of a stream. The marks tell where a cut after the usage falls. */
export type Frame = { readonly text: string; readonly mark?: 'usage' | 'end' };

/** One write of a file, so many milliseconds after the one before it. Behind the last one there may be nothing but a broken connection. */
export type Piece = { readonly bytes: Uint8Array; readonly pauseMs?: number; readonly breaks?: boolean };

export class VendorRefusal extends Error {
  readonly status: number;
  /** Sent as it is if it is a string, otherwise as JSON. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`The simulated vendor answers ${status}.`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export function jsonAnswer(body: unknown): Answer {
  return { kind: 'plain', contentType: 'application/json', body: JSON.stringify(body) };
}
