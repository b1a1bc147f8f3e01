import type { Readable } from 'node:stream';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { decodeTime } from 'ulid';
import type { Admission } from '../core/accounts/admit.ts';
import type { InitData } from '../core/accounts/init-data.ts';
import { utcDay } from '../core/clock.ts';
import type { GatewayError, LimitName } from '../core/errors/gateway-error.ts';
import type { JsonObject } from '../core/json.ts';
import type { OpenMemory } from '../core/limits/request-memory.ts';
import type { StoreTime } from '../core/retry.ts';
import type { Route, RouteName } from '../routes.ts';
import type { EventStream } from './event-stream.ts';
import type { FrontDoorTimeouts } from './front-door.ts';
import type { RequestTrace } from './request-trace.ts';

/** Response of a handler: streamed if the body is a stream. */
export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string | Readable;
}

/** Start of a response whose result is not known yet. */
export interface EarlyResponse {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent first and after each silence; clients ignore it. */
  readonly keepAlive: string;
  /** End of such a response after a failure, which no client can mistake for a success. */
  readonly failure: (error: GatewayError) => string;
  /** Rest of a response that has a body; undefined if the response writes itself. */
  readonly rest?: (status: number, body: string) => string;
}

/** Data about a finished request, for one log line and the metrics. Never contains a prompt or a key. */
export interface Summary {
  status: number;
  /** Id of the request in the log of the front door. */
  readonly frontDoorRequestId?: string;
  /** Known after routing. */
  route?: RouteName;
  errorCode?: string;
  /** Limit that rejected the request. */
  limit?: LimitName;
  model?: string;
  accountId?: string;
  /** Whether the front door reported no readable client IP, so that none was limited (LIM-7). */
  lacksClientIp?: true;
  endUser?: string;
  inputTokens?: number;
  outputTokens?: number;
  costPicos?: bigint;
  /** Whether the response was replayed from the store (IDEM-2). */
  replayed?: boolean;
  /** Whether the request only asked for its price (BILL-16). */
  dryRun?: boolean;
  /** Whether the error is a failure of the provider, whatever its code. */
  providerFailed?: true;
  /** Milliseconds that the body took to arrive. */
  uploadMs?: number;
  /** Milliseconds from the provider call to the start of the provider's response. Absent without a provider call. */
  providerMs?: number;
  /** Milliseconds from the request's arrival. */
  firstByteMs?: number;
  totalMs?: number;
  /** Undefined where no traces are exported. */
  readonly trace?: RequestTrace | undefined;
  /** Unexpected error. */
  cause?: unknown;
}

/** File of a form, unchanged. */
export interface FormFile {
  readonly field: string;
  readonly fileName: string;
  /** Media type that the client declares; empty if it declares none. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Multipart form with its parts in the order of the body. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly FormFile[];
}

/** State of one request while it is processed. */
export interface Exchange {
  /** ULID of the gateway, independent of ids that the client sends (GEN-4). */
  readonly requestId: string;
  readonly startedAtMs: number;
  /** Unix ms at which the request, including its body, was complete. The front door's timeout starts then. */
  receivedAtMs: number;
  /** Unix ms at which the host stops this process; undefined if it does not. */
  readonly hostEndsAtMs: number | undefined;
  /** Time that is left for store calls before the provider call. */
  readonly storeTime?: StoreTime | undefined;
  /** Timeouts of the front door. */
  readonly frontDoorTimeouts?: FrontDoorTimeouts | undefined;
  readonly event: APIGatewayProxyEventV2;
  readonly summary: Summary;
  /** Known after routing. */
  route:
    | { readonly name: RouteName; readonly route: Route; readonly params: Readonly<Record<string, string>> }
    | undefined;
  /** Client IP as the front door reports it, after authentication. Undefined if it is not readable (LIM-7). */
  clientIp?: string | undefined;
  /** Set after authentication, on routes with an account. */
  admission: Admission | undefined;
  /** User of the mini app, on its routes. */
  initData?: InitData | undefined;
  body: { readonly json: JsonObject; readonly bytes: number } | undefined;
  /** Replaces `body` if the route accepts forms and the client sent one. */
  form?: Form | undefined;
  /** Releases the bytes of the body, and of what was fetched for it, from the budget of the process. */
  releaseBody: () => void;
  /** Opens memory of the process beyond the body. Set when the body has been read. */
  openMemory?: OpenMemory | undefined;
  /** Releases the bytes of the response from the budget. Undefined if none are reserved. */
  releaseAnswer?: (() => void) | undefined;
  /** Set by a response that is logged when its stream ends. */
  finishesLater: boolean;
  /**
   * How this response can start early; set if the front door has a timeout and the form allows it. Set before the
   * handler first waits.
   */
  earlyResponse?: EarlyResponse | undefined;
  /** Response that was started early. The request is in progress until the handler finishes. */
  startedResponse?: EventStream | undefined;
}

/**
 * Returns the milliseconds that the gateway added before the first byte of a paid response: its time without the upload
 * and without the provider. Undefined if no provider has responded. A response without `firstByteMs` is sent whole.
 */
export const addedMsOf = ({ firstByteMs, totalMs, providerMs, uploadMs = 0 }: Summary): number | undefined => {
  const sentMs = firstByteMs ?? totalMs;
  return sentMs === undefined || providerMs === undefined ? undefined : Math.max(0, sentMs - uploadMs - providerMs);
};

export type RouteHandler = (exchange: Exchange) => Promise<GatewayResponse>;

/** Returns the account of an authenticated route. Throws an Error without one, which is a bug. */
export const admissionOf = ({ admission }: Exchange): Admission => {
  if (!admission) throw new Error('a handler was called without authentication');
  return admission;
};

/** Returns the user of the mini app. Throws an Error without one, which is a bug. */
export const initDataOf = ({ initData }: Exchange): InitData => {
  if (!initData) throw new Error('a handler of the mini app was called without its credential');
  return initData;
};

export const json = (statusCode: number, body: unknown, headers: Record<string, string> = {}): GatewayResponse => ({
  statusCode,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
});

/** Returns Unix ms. */
export const timeOfRequest = (requestId: string): number => decodeTime(requestId);

/** Returns the UTC day of a request, such as `2026-11-20`. */
export const dayOfRequest = (requestId: string): string => utcDay(timeOfRequest(requestId));

/** Releases the memory of the client's request. */
export const releaseRequest = (exchange: Exchange): void => {
  exchange.releaseBody();
  exchange.body = undefined;
  exchange.form = undefined;
};
