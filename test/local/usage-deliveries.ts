import type { CloudEvent } from '../../lambdas/core/event-publisher.ts';
import type { UsageDeliveryOptions } from '../../local/usage-delivery.ts';
import { requestOf } from '../lambdas/functions/wiring/usage-events-records.ts';

/** A receiver that records the ids of confirmed events, and fails while `isDown`. */
export const createReceiver = () => {
  const state = { isDown: false, calls: 0, ids: [] as string[], notices: [] as string[], failures: [] as string[] };
  const publish = async (events: readonly CloudEvent[]) => {
    state.calls += 1;
    if (state.isDown) return { failed: new Set(events.map(({ id }) => id)), reason: 'down' };
    state.ids.push(...events.map(({ id }) => id));
    return { failed: new Set<string>() };
  };
  const options: UsageDeliveryOptions = {
    publisherFor: () => publish,
    source: 'gateway-local',
    endpoint: 'billing.example.com',
    reporting: { notice: (name, { reason, endpoint }) => state.notices.push([name, endpoint, reason].join(' ')) },
    onFailure: (message) => state.failures.push(message),
    pollMs: 5,
    retryMsMax: 5,
  };
  return { state, options };
};

/** Returns the id of the event of a test's charge. */
export const idOf = (number: number): string => `acme/${requestOf(number)}.0`;
