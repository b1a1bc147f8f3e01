import { randomBytes } from 'node:crypto';
import type { Catalog } from '../../core/catalog/catalog.ts';
import { type Clock, inTime } from '../../core/clock.ts';
import type { Summary } from '../../http/exchange.ts';
import type { RequestTrace } from '../../http/request-trace.ts';
import type { Settings } from '../../settings.ts';
import type { Reporting, VideoFunctionDependencies } from './dependencies.ts';
import type { Environment } from './ledger.ts';
import type { OtlpOptions, SpanSink } from './otlp-sink.ts';
import { nameOf } from './secrets.ts';
import { type ProviderLookup, toSpans } from './trace-spans.ts';

/** Finished requests whose spans are not built yet. */
const PENDING_MAX = 2_048;
/** Longest time that an invocation lasts after its response, in ms. The client does not wait for it. */
const FLUSH_MS = 1_000;
/** After a failed export, invocations do not wait for further ones during this time, in ms. */
const PAUSE_MS = 30_000;
/** Shortest time between two reports of failed exports, in ms. */
const REPORT_MS = 300_000;

interface Finished {
  readonly requestId: string;
  readonly summary: Summary;
  readonly trace: RequestTrace;
}

interface TracerOptions {
  readonly clock: Clock;
  readonly lookup: ProviderLookup;
  /** Loads the exporter. Called once. */
  readonly load: (onResult: (failure: string | undefined) => void) => Promise<SpanSink>;
  /** Reports to the operator that spans are lost. */
  readonly onFailure: (reason: string) => void;
}

/**
 * Builds and exports the spans of finished requests. The queues are bounded, and no method throws or rejects: without a
 * collector, requests are served as usual and their spans are lost.
 */
export class Tracer {
  readonly #options: TracerOptions;
  readonly #sink: Promise<SpanSink | undefined>;
  readonly #pending: Finished[] = [];
  #isScheduled = false;
  #failedAtMs: number | undefined;
  #reportedAtMs: number | undefined;

  constructor(options: TracerOptions) {
    this.#options = options;
    this.#sink = options
      .load((failure) => this.#took(failure))
      .catch((error: unknown) => {
        this.#took(nameOf(error));
        return undefined;
      });
  }

  /** Takes a finished request. Its spans are built later, so that the response does not wait. */
  take(requestId: string, summary: Summary): void {
    const { trace } = summary;
    if (!trace) return;
    if (this.#pending.length >= PENDING_MAX) {
      this.#report('queue_full');
      return;
    }
    this.#pending.push({ requestId, summary, trace });
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => void this.#drain());
  }

  /** Exports all finished requests. Returns after at most `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    const flushing = async (): Promise<void> => {
      await this.#drain();
      await (await this.#sink)?.flush().catch(() => undefined);
    };
    await inTime(this.#options.clock, limitMs, flushing());
  }

  /** Exports all finished requests before the process may freeze. Does not wait for a collector that failed. */
  async flushBeforeFreeze(): Promise<void> {
    const sinceMs = this.#options.clock.now() - (this.#failedAtMs ?? Number.NEGATIVE_INFINITY);
    await (sinceMs < PAUSE_MS ? this.#drain() : this.flush(FLUSH_MS));
  }

  async #drain(): Promise<void> {
    const sink = await this.#sink;
    this.#isScheduled = false;
    for (const { requestId, summary, trace } of this.#pending.splice(0)) {
      try {
        sink?.send(trace, toSpans(requestId, summary, trace, this.#options.lookup));
      } catch (bug) {
        this.#took(nameOf(bug));
      }
    }
  }

  #took(failure: string | undefined): void {
    if (failure === undefined) {
      this.#failedAtMs = undefined;
      return;
    }
    this.#failedAtMs = this.#options.clock.now();
    this.#report(failure);
  }

  #report(failure: string): void {
    const nowMs = this.#options.clock.now();
    if (this.#reportedAtMs !== undefined && nowMs - this.#reportedAtMs < REPORT_MS) return;
    this.#reportedAtMs = nowMs;
    this.#options.onFailure(failure);
  }
}

/** Dependencies of a function whose requests are traced. */
export interface TracedDependencies
  extends Pick<VideoFunctionDependencies, 'catalog' | 'clock' | 'reporting' | 'settings' | 'vendorAccess'> {}

/**
 * Adds traces to the reporting, if the settings name an endpoint. Otherwise returns the argument, and no module of
 * OpenTelemetry is ever loaded.
 */
export const withTracing = <Deps extends TracedDependencies>(deps: Deps, environment: Environment): Deps => {
  const url = endpointOf(deps.settings);
  if (url === undefined) return deps;
  const { clock, reporting, settings } = deps;
  const newTraceId = (): string => randomBytes(16).toString('hex');
  const tracer = new Tracer({
    clock,
    lookup: createLookup(deps),
    load: async (onResult) => (await import('./otlp-sink.ts')).openOtlpSink(toOtlpOptions(settings, url, onResult)),
    onFailure: (reason) => reporting.notice('traces_lost', { reason, endpoint: new URL(url).host }),
  });
  const traced: Reporting = {
    ...reporting,
    finished: (requestId, finished) => {
      const summary = withTrustedParent(finished, newTraceId);
      reporting.finished(requestId, summary);
      tracer.take(requestId, summary);
    },
    tracing: {
      newTraceId,
      ...(mayFreeze(environment) && { afterResponse: () => tracer.flushBeforeFreeze() }),
      flush: (limitMs) => tracer.flush(limitMs),
    },
  };
  return { ...deps, reporting: traced };
};

/**
 * Drops the client's span unless an account made the request. Otherwise anyone could add spans to a trace, or cause
 * exports that the sampler would leave out.
 */
const withTrustedParent = (summary: Summary, newTraceId: () => string): Summary => {
  const { trace, accountId } = summary;
  if (!trace?.parent || accountId !== undefined) return summary;
  return { ...summary, trace: { ...trace, traceId: newTraceId(), parent: undefined } };
};

/**
 * Whether AWS Lambda may freeze this process after a response. A Web Function serves several requests, and its spans
 * leave with the next one.
 */
const mayFreeze = ({ AWS_LAMBDA_FUNCTION_NAME, AWS_LAMBDA_HTTP_ENDPOINT }: Environment): boolean =>
  Boolean(AWS_LAMBDA_FUNCTION_NAME) && !AWS_LAMBDA_HTTP_ENDPOINT;

const PATH = 'v1/traces';

/**
 * Returns the URL to which spans are sent, or undefined where traces are off.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export const endpointOf = (settings: Settings): string | undefined => {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = settings;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') return undefined;
  const base = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  return settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base.replace(/\/+$/, '')}/${PATH}`);
};

const toOtlpOptions = (settings: Settings, url: string, onResult: OtlpOptions['onResult']): OtlpOptions => ({
  url,
  serviceName: settings.OTEL_SERVICE_NAME ?? 'model-gateway',
  functionName: settings.FUNCTION_NAME,
  sampler: settings.OTEL_TRACES_SAMPLER,
  ratio: settings.OTEL_TRACES_SAMPLER_ARG,
  onResult,
});

/** Looks providers up when spans are built, because a secret can change a base URL. */
const createLookup =
  ({ catalog, vendorAccess }: Pick<TracedDependencies, 'catalog' | 'vendorAccess'>): ProviderLookup =>
  (providerId, modelId) => {
    const model = upstreamModelOf(catalog, providerId, modelId);
    const access = vendorAccess(providerId);
    if (!access) return { model };
    const { hostname: address, port, protocol } = new URL(access.baseUrl);
    return { model, address, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  };

const upstreamModelOf = ({ entries }: Catalog, providerId: string, modelId: string): string | undefined =>
  entries.find(({ id }) => id === modelId)?.upstreams.find(({ provider }) => provider === providerId)?.model;
