import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { RequestTrace } from '../../http/request-trace.ts';
import type { Settings } from '../../settings.ts';
import type { RequestSpans, SpanData } from './trace-spans.ts';
import { createXrayExporter, xrayRegionOf } from './xray-exporter.ts';

/** Exports spans in batches, from a bounded queue. */
export interface SpanSink {
  send(trace: RequestTrace, spans: RequestSpans): void;
  /** Exports what waits. Rejects if the export fails. */
  flush(): Promise<void>;
}

export interface OtlpOptions {
  readonly url: string;
  readonly serviceName: string;
  readonly functionName: string | undefined;
  readonly sampler: Settings['OTEL_TRACES_SAMPLER'];
  /** Share of the traces that a ratio sampler exports, from 0 to 1. */
  readonly ratio: number;
  /** Called after each export, with the reason of a failure. */
  readonly onResult: (failure: string | undefined) => void;
}

/** Spans that wait for their export. Further ones are dropped. */
const QUEUE_MAX = 4_096;
/** Time of one export with its retries, in ms. */
const EXPORT_MS = 10_000;

/**
 * The only module that loads OpenTelemetry's SDK. The SDK itself reads OTEL_RESOURCE_ATTRIBUTES, and the exporter
 * OTEL_EXPORTER_OTLP_HEADERS, _COMPRESSION and _CERTIFICATE with their variants for traces.
 */
export const openOtlpSink = (options: OtlpOptions): SpanSink => {
  const random = new RandomIdGenerator();
  // The id is known since the start of the request, because its log record has it.
  let traceId = '';
  const provider = new TracerProvider({
    resource: resourceOf(options),
    sampler: toSampler(options),
    idGenerator: { generateTraceId: () => traceId, generateSpanId: () => random.generateSpanId() },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(exporterFor(options.url), options.onResult),
        maxQueueSize: QUEUE_MAX,
        exportTimeoutMillis: 2 * EXPORT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('model-gateway');
  const begin = ({ name, kind, startMs, attributes }: SpanData, context = ROOT_CONTEXT) =>
    tracer.startSpan(
      name,
      { kind: kinds[kind], startTime: new Date(startMs), attributes: toAttributes(attributes) },
      context,
    );
  return {
    send: (request, { root, parts }) => {
      traceId = request.traceId;
      const span = begin(root, toContext(request));
      if (!span.isRecording()) return;
      const within = trace.setSpan(ROOT_CONTEXT, span);
      for (const part of parts) end(begin(part, within), part);
      end(span, root);
    },
    flush: () => provider.forceFlush(),
  };
};

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

const end = (
  span: ReturnType<ReturnType<TracerProvider['getTracer']>['startSpan']>,
  { failed, endMs }: SpanData,
): void => {
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(new Date(endMs));
};

const toAttributes = (attributes: SpanData['attributes']): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

const toContext = ({ parent }: RequestTrace) => {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
};

const resourceOf = ({ serviceName, functionName }: OtlpOptions) =>
  detectResources({ detectors: [resourceAttributesEnvDetector] }).merge(
    resourceFromAttributes({
      'service.name': serviceName,
      ...(functionName !== undefined && { 'faas.name': functionName }),
    }),
  );

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
const toSampler = ({ sampler, ratio }: Pick<OtlpOptions, 'sampler' | 'ratio'>): Sampler => {
  const named = sampler.replace('parentbased_', '');
  const root = rootSampler(named, ratio);
  return named === sampler ? root : new ParentBasedSampler({ root });
};

const rootSampler = (name: string, ratio: number): Sampler => {
  if (name === 'always_off') return new AlwaysOffSampler();
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler();
};

const exporterFor = (url: string): SpanExporter => {
  const region = xrayRegionOf(url);
  if (region !== undefined) return createXrayExporter({ url, region, timeoutMs: EXPORT_MS });
  return new OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS });
};

/** Reports the result of each export. The code of an error is enough: its message may quote the collector. */
const reporting = (exporter: SpanExporter, onResult: OtlpOptions['onResult']): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      onResult(result.code === 0 ? undefined : reasonOf(result.error));
      done(result);
    }),
  forceFlush: async () => exporter.forceFlush?.(),
  shutdown: () => exporter.shutdown(),
});

const reasonOf = (error: Error | undefined): string => {
  const code = error && 'code' in error ? error.code : undefined;
  return String(code ?? error?.name ?? 'unknown');
};
