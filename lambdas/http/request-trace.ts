import type { CallTimes } from '../core/paid-call/dependencies.ts';

/** Span of the client that a `traceparent` header names. */
export interface TraceParent {
  /** 32 lowercase hexadecimal digits. */
  readonly traceId: string;
  /** 16 lowercase hexadecimal digits. */
  readonly spanId: string;
  /** Whether the client records its own spans. */
  readonly sampled: boolean;
}

/** Times of one request, for the spans that are built after its response (OPS-19). In Unix ms. */
export interface RequestTrace {
  readonly traceId: string;
  /** Undefined if the client sent no valid `traceparent`. */
  readonly parent: TraceParent | undefined;
  /** Method as the client sent it. */
  readonly method: string;
  readonly startedAtMs: number;
  /** Undefined if the request was rejected before. */
  admittedAtMs?: number;
  /** Whether the response is sent while the provider generates it. */
  streamed?: true;
  /** Whether the client left before the end of its stream. */
  clientLeft?: true;
  /** Holds and calls, in their order. */
  readonly calls: CallTimes[];
}

/** Version, trace id, span id and flags. A later version may have more fields. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LENGTH_MAX = 512;

/**
 * Returns the client's span, or undefined if the header is missing or invalid, which starts a new trace.
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */
export const readTraceparent = (header: string | undefined): TraceParent | undefined => {
  if (header === undefined || header.length > LENGTH_MAX) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
};

interface TracedRequest {
  readonly method: string;
  /** Header `traceparent` of the client. `tracestate` and `baggage` are ignored. */
  readonly traceparent: string | undefined;
  readonly startedAtMs: number;
}

/** `newTraceId` returns the id of a trace that starts here. */
export const startTrace = (newTraceId: () => string, request: TracedRequest): RequestTrace => {
  const parent = readTraceparent(request.traceparent);
  const { method, startedAtMs } = request;
  return { traceId: parent?.traceId ?? newTraceId(), parent, method, startedAtMs, calls: [] };
};
