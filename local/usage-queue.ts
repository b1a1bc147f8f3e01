import type { EventPublisher } from '../lambdas/core/event-publisher.ts';
import { publishAndReport, reportUnreadable } from '../lambdas/functions/wiring/usage-events-handler.ts';
import { toUsageEvent } from '../lambdas/protocols/account/usage-event.ts';
import type { Database } from './stores/sqlite/database.ts';
import { BATCH_MAX, type ChargeDelivery, deliverCharges, queueCharges } from './stores/sqlite/usage-events.ts';
import { endpointReporting, startDelivery, type UsageDeliveryOptions } from './usage-delivery.ts';

/** Less than the day for which charges are queued without a delivery. */
const RENEW_MS = 3_600_000;

/**
 * Delivers the events of charge records in the embedded store. They wait in the store until their delivery, also while
 * no gateway runs. The returned function ends the delivery.
 */
export const followQueue = async (db: Database, options: UsageDeliveryOptions): Promise<() => Promise<void>> => {
  const { publisherFor, source } = options;
  const reporting = endpointReporting(options);
  await queueCharges(db, Date.now());
  let renewAtMs = Date.now() + RENEW_MS;
  const deliverTo =
    (publish: EventPublisher): ChargeDelivery =>
    async (charges) => {
      const prepared = charges.map((charge) => ({ charge, event: toUsageEvent(charge, source) }));
      const events = prepared.flatMap(({ event }) => event ?? []);
      for (const event of events) reportUnreadable(event, reporting);
      const { failed } = await publishAndReport(publish, events, reporting);
      return new Set(prepared.flatMap(({ charge, event }) => (event && failed.has(event.id) ? [charge] : [])));
    };
  // A receiver may reject a batch for its size, or for one event. Smaller batches pass around both.
  let limit = BATCH_MAX;
  return startDelivery(async (signal) => {
    if (Date.now() >= renewAtMs) {
      await queueCharges(db, Date.now());
      renewAtMs = Date.now() + RENEW_MS;
    }
    const outcome = await deliverCharges(db, { now: Date.now, deliver: deliverTo(publisherFor(signal)), limit });
    if (outcome === 'failed') limit = Math.max(1, Math.floor(limit / 2));
    if (outcome === 'delivered') limit = Math.min(BATCH_MAX, limit * 2);
    return outcome;
  }, options);
};
