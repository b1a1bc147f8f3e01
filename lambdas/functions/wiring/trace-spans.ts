import { formatUsd } from '../../core/money/usd.ts';
import type { CallTimes } from '../../core/paid-call/dependencies.ts';
import { addedMsOf, type Summary } from '../../http/exchange.ts';
import type { RequestTrace } from '../../http/request-trace.ts';
import { type RouteName, routes } from '../../routes.ts';

type AttributeValue = string | number | boolean | undefined;

/** Finished span of a request. Times are in Unix ms. */
export interface SpanData {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  readonly startMs: number;
  readonly endMs: number;
  /** An undefined value means that the span lacks the attribute. */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  readonly failed: boolean;
}

/** Span of a request, and the spans of its parts in the order of their starts. */
export interface RequestSpans {
  readonly root: SpanData;
  readonly parts: readonly SpanData[];
}

/** Facts about a provider that a request does not record. */
export interface CalledProvider {
  /** Host and port of its base URL. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
  /** Name of the model in the provider's API. */
  readonly model?: string | undefined;
}

export type ProviderLookup = (providerId: string, modelId: string) => CalledProvider;

interface Operation {
  readonly name: string;
  /** Content type of the result, if the operation does not imply it. */
  readonly output?: string;
}

const generated = (output: string): Operation => ({ name: 'generate_content', output });

/**
 * Operation of the provider calls of a route. The conventions have no name for moderation, and name no video.
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/client-inference.md
 */
const operations: Partial<Record<RouteName, Operation>> = {
  chatCompletions: { name: 'chat' },
  responses: { name: 'chat' },
  messages: { name: 'chat' },
  generateContent: { name: 'generate_content' },
  streamGenerateContent: { name: 'generate_content' },
  embeddings: { name: 'embeddings' },
  moderations: { name: 'moderation' },
  generateImages: generated('image'),
  editImages: generated('image'),
  transcribe: generated('text'),
  speak: generated('speech'),
  createVideo: generated('video'),
};

/** Names of the conventions that differ from the ids of the catalog. */
const providerNames: ReadonlyMap<string, string> = new Map([['google', 'gcp.gemini']]);

const methods: ReadonlySet<string> = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH'.split(' '));

/**
 * Builds the spans of a finished request (OPS-19). Only the attributes named here are exported, so no prompt, header,
 * URL or key can be included.
 */
export const toSpans = (
  requestId: string,
  summary: Summary,
  trace: RequestTrace,
  lookup: ProviderLookup,
): RequestSpans => {
  const endMs = trace.startedAtMs + (summary.totalMs ?? 0);
  const last = trace.calls.at(-1);
  return {
    root: toRoot(requestId, summary, trace, endMs),
    parts: [
      ...toAdmission(summary, trace, endMs),
      ...trace.calls.flatMap((times) => toCallSpans({ times, isLast: times === last, endMs, summary, trace, lookup })),
    ],
  };
};

const toRoot = (requestId: string, summary: Summary, trace: RequestTrace, endMs: number): SpanData => {
  const method = methods.has(trace.method) ? trace.method : '_OTHER';
  const route = summary.route && routes[summary.route].path;
  const name = method === '_OTHER' ? 'HTTP' : method;
  return {
    name: route === undefined ? name : `${name} ${route}`,
    kind: 'server',
    startMs: trace.startedAtMs,
    endMs,
    // An error after the first byte of a stream keeps the status 200.
    failed: summary.status >= 500 || (summary.status < 400 && summary.errorCode !== undefined),
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': summary.status,
      'error.type': summary.errorCode,
      'gen_ai.request.model': trace.calls[0]?.modelId ?? summary.model,
      'gen_ai.response.model': summary.errorCode === undefined ? trace.calls.at(-1)?.modelId : undefined,
      'gateway.request.id': requestId,
      'gateway.front_door.request.id': summary.frontDoorRequestId,
      'gateway.account.id': summary.accountId,
      'gateway.limit': summary.limit,
      'gateway.cost_usd': summary.costPicos === undefined ? undefined : formatUsd(summary.costPicos),
      'gateway.replayed': summary.replayed,
      'gateway.dry_run': summary.dryRun,
      'gateway.client_left': trace.clientLeft,
      'gateway.first_byte_ms': summary.firstByteMs,
      'gateway.added_ms': addedMsOf(summary),
    },
  };
};

/** From the arrival to the accepted API key. A request without a route has none. */
const toAdmission = (
  { route, errorCode }: Summary,
  { startedAtMs, admittedAtMs }: RequestTrace,
  endMs: number,
): readonly SpanData[] => {
  if (route === undefined) return [];
  const rejected = admittedAtMs === undefined ? errorCode : undefined;
  return [internal('admission', [startedAtMs, admittedAtMs ?? endMs], { 'error.type': rejected })];
};

const internal = (
  name: string,
  [startMs, endMs]: readonly [number, number],
  attributes: SpanData['attributes'],
): SpanData => ({
  name,
  kind: 'internal',
  startMs,
  endMs,
  attributes,
  failed: attributes['error.type'] !== undefined,
});

interface CallContext {
  readonly times: CallTimes;
  readonly isLast: boolean;
  readonly endMs: number;
  readonly summary: Summary;
  readonly trace: RequestTrace;
  readonly lookup: ProviderLookup;
}

const toCallSpans = (context: CallContext): readonly SpanData[] => {
  const { times, endMs, summary } = context;
  const { holdAtMs, heldAtMs, modelId } = times;
  const refused = heldAtMs === undefined ? summary.errorCode : undefined;
  const hold = internal('hold', [holdAtMs, heldAtMs ?? endMs], {
    'gateway.model': modelId,
    'error.type': refused,
  });
  return [hold, ...toProviderCall(context), ...toSettle(context)];
};

const toProviderCall = ({ times, isLast, endMs, summary, trace, lookup }: CallContext): readonly SpanData[] => {
  const { modelId, provider, calledAtMs, firstByteAtMs, endedAtMs, settleAtMs, released } = times;
  if (calledAtMs === undefined) return [];
  const { name: operation, output } = (summary.route && operations[summary.route]) ?? { name: 'chat' };
  const { address, port, model = modelId } = lookup(provider, modelId);
  const failure = endedAtMs === undefined ? (released ?? summary.errorCode) : undefined;
  const streams = trace.streamed;
  return [
    {
      name: `${operation} ${model}`,
      kind: 'client',
      startMs: calledAtMs,
      endMs: endedAtMs ?? settleAtMs ?? endMs,
      failed: failure !== undefined,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': providerNames.get(provider) ?? provider,
        'gen_ai.request.model': model,
        'gen_ai.request.stream': streams,
        'gen_ai.output.type': output,
        'gen_ai.response.time_to_first_chunk':
          streams && firstByteAtMs !== undefined ? (firstByteAtMs - calledAtMs) / 1_000 : undefined,
        ...(isLast && {
          'gen_ai.usage.input_tokens': summary.inputTokens,
          'gen_ai.usage.output_tokens': summary.outputTokens,
        }),
        'server.address': address,
        'server.port': port,
        'error.type': failure,
        'gateway.model': modelId,
      },
    },
  ];
};

/** Charge or release. A release after a complete response of the provider is a failure of the gateway. */
const toSettle = ({ times, endMs, summary, isLast }: CallContext): readonly SpanData[] => {
  const { settleAtMs, settledAtMs, endedAtMs, released } = times;
  if (settleAtMs === undefined) return [];
  const charged = released === undefined;
  return [
    internal('settle', [settleAtMs, settledAtMs ?? endMs], {
      'gateway.settle.outcome': charged ? 'charged' : 'released',
      'gateway.settle.reason': released,
      'gateway.cost_usd':
        charged && isLast && summary.costPicos !== undefined ? formatUsd(summary.costPicos) : undefined,
      'error.type': endedAtMs === undefined ? undefined : released,
    }),
  ];
};
