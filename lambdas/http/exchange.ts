import type { Readable } from 'node:stream';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { decodeTime, encodeTime } from 'ulid';
import type { Admission } from '../core/accounts/admit.ts';
import type { InitData } from '../core/accounts/init-data.ts';
import { utcDay } from '../core/clock.ts';
import type { GatewayError, LimitName } from '../core/errors/gateway-error.ts';
import type { JsonObject } from '../core/json.ts';
import type { Route, RouteName } from '../routes.ts';
import type { EventStream } from './event-stream.ts';
import type { FrontDoorTimeouts } from './front-door.ts';

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
  /** What such an answer ends with where the request failed: nothing that could be taken for a good end. */
  readonly failure: (error: GatewayError) => string;
  /** The rest of one that came whole; without it the answer writes itself. */
  readonly rest?: (status: number, body: string) => string;
}

/** Data about a finished request, for one log line and the metrics. Never contains a prompt or a key. */
export interface Summary {
  status: number;
  /** Under which the log of the front door has it. */
  readonly frontDoorRequestId?: string;
  /** Known after routing. */
  route?: RouteName;
  errorCode?: string;
  /** Which limit turned it away. */
  limit?: LimitName;
  model?: string;
  accountId?: string;
  endUser?: string;
  inputTokens?: number;
  outputTokens?: number;
  costPicos?: bigint;
  /** The answer was stored before (IDEM-2). */
  replayed?: boolean;
  /** Nothing was asked but the price (BILL-16). */
  dryRun?: boolean;
  /** Milliseconds from the request's arrival. */
  firstByteMs?: number;
  totalMs?: number;
  /** Unexpected error. */
  cause?: unknown;
}

/** A file of a form, as it came. */
export interface FormFile {
  readonly field: string;
  readonly fileName: string;
  /** Media type that the client declares; empty if it declares none. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A multipart form, its parts in the order in which they came. */
export interface Form {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly FormFile[];
}

/** One request on its way through the chain. */
export interface Exchange {
  /** ULID of the gateway, whatever the client sent (GEN-4). */
  readonly requestId: string;
  readonly startedAtMs: number;
  /** When all of it was here, its body as well: from then on a front door waits for the answer. */
  receivedAtMs: number;
  /** When the host stops this process, if it does. Unix milliseconds. */
  readonly hostEndsAtMs: number | undefined;
  /** Timeouts of the front door. */
  readonly frontDoorTimeouts?: FrontDoorTimeouts | undefined;
  readonly event: APIGatewayProxyEventV2;
  readonly summary: Summary;
  /** Known after routing. */
  route:
    | { readonly name: RouteName; readonly route: Route; readonly params: Readonly<Record<string, string>> }
    | undefined;
  /** Known after authentication, on routes that have it. */
  admission: Admission | undefined;
  /** Who has opened the mini app, on its routes. */
  initData?: InitData | undefined;
  body: { readonly json: JsonObject; readonly bytes: number } | undefined;
  /** In place of `body`, where the route takes forms and the client sent one. */
  form?: Form | undefined;
  /** Releases the bytes of the body from the budget of the process. */
  releaseBody: () => void;
  /** Set by a response that is logged when its stream ends. */
  finishesLater: boolean;
  /**
   * How this response starts early, if the front door times out and the form allows it. Set before the handler first
   * waits.
   */
  earlyResponse?: EarlyResponse | undefined;
  /** Response that was started early. The request is in progress until the handler is done. */
  startedResponse?: EventStream | undefined;
}

export type RouteHandler = (exchange: Exchange) => Promise<GatewayResponse>;

/** The account of an authenticated route; the chain never calls such a handler without one. */
export const admissionOf = ({ admission }: Exchange): Admission => {
  if (!admission) throw new Error('a handler was called without authentication');
  return admission;
};

/** Who has opened the mini app; the chain never calls a handler of its routes without. */
export const initDataOf = ({ initData }: Exchange): InitData => {
  if (!initData) throw new Error('a handler of the mini app was called without its credential');
  return initData;
};

export const json = (statusCode: number, body: unknown, headers: Record<string, string> = {}): GatewayResponse => ({
  statusCode,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
});

const TIME_CHARACTERS = 10;

/** Ids of requests and of holds begin with the time of their request, so this is less than or equal to all of that millisecond's. */
export const firstIdAt = (ms: number): string => encodeTime(Math.max(0, ms), TIME_CHARACTERS);

/** Unix milliseconds. */
export const timeOfRequest = (requestId: string): number => decodeTime(requestId);

/** The UTC day a request came on, such as `2026-11-20`. */
export const dayOfRequest = (requestId: string): string => utcDay(timeOfRequest(requestId));

/** Releases the memory of the client's request. */
export const releaseRequest = (exchange: Exchange): void => {
  exchange.releaseBody();
  exchange.body = undefined;
  exchange.form = undefined;
};
