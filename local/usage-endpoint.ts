import { createHash } from 'node:crypto';
import type { CloudEvent, EventPublisher, Publication } from '../lambdas/core/event-publisher.ts';
import { signEvent } from '../lambdas/core/signature.ts';

/** Limit in ms for the whole exchange. */
const TIMEOUT_MS = 10_000;

export interface UsageEndpointOptions {
  readonly url: string;
  /** Signing secret: `whsec_` and its key in base64. */
  readonly secret: string;
  /** Clock in Unix ms. */
  readonly now: () => number;
  readonly timeoutMs?: number;
  /** Ends a delivery in progress, whose events then count as failed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Posts events to the operator's HTTP endpoint, in the batched mode of CloudEvents and signed as in Standard Webhooks.
 * Any 2xx response confirms all of them. A redirect does not, because it could lead to another server.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#33-batched-content-mode
 */
export const createUsageEndpoint = (options: UsageEndpointOptions): EventPublisher => {
  const { url, secret, now, timeoutMs = TIMEOUT_MS, signal } = options;
  return async (events) => {
    const body = JSON.stringify(events);
    const id = batchIdOf(events);
    const unixSeconds = Math.floor(now() / 1_000);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/cloudevents-batch+json; charset=utf-8',
          'user-agent': 'model-gateway-usage/1',
          'webhook-id': id,
          'webhook-timestamp': String(unixSeconds),
          'webhook-signature': signEvent([secret], { id, unixSeconds, body }),
        },
        body,
        signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      });
      // Only the status counts. The connection is closed without reading the rest.
      await response.body?.cancel();
      return response.ok ? { failed: new Set() } : failedAll(events, `the endpoint returned ${response.status}`);
    } catch {
      const reason = timeout.aborted ? 'the endpoint did not respond in time' : 'the endpoint cannot be reached';
      return failedAll(events, reason);
    }
  };
};

/** The same for the same events, so that a receiver recognizes a repeated batch. */
const batchIdOf = (events: readonly CloudEvent[]): string => {
  const hash = createHash('sha256');
  for (const { source, id } of events) hash.update(`${source}\n${id}\n`);
  return `usage_${hash.digest('hex').slice(0, 32)}`;
};

const failedAll = (events: readonly CloudEvent[], reason: string): Publication => ({
  failed: new Set(events.map(({ id }) => id)),
  reason,
});
