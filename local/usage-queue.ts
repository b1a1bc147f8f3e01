import type { EventPublisher } from '../lambdas/core/event-publisher.ts';
import { publishAndReport, reportUnreadable } from '../lambdas/functions/wiring/usage-events-handler.ts';
import { toUsageEvent } from '../lambdas/protocols/account/usage-event.ts';
import type { Database } from './stores/sqlite/database.ts';
import { type ChargeDelivery, deliverCharges, queueCharges } from './stores/sqlite/usage-events.ts';
import { startDelivery, type UsageDeliveryOptions } from './usage-delivery.ts';

/** Less than the day for which charges are queued without a delivery. */
const RENEW_MS = 3_600_000;

/**
 * Delivers the events of charge records in the embedded store. They wait in the store until their delivery, also while
 * no gateway runs. The returned function ends the delivery.
 */
export const followQueue = async (db: Database, options: UsageDeliveryOptions): Promise<() => Promise<void>> => {
  const { publisherFor, source, reporting } = options;
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
  return startDelivery(async (signal) => {
    if (Date.now() >= renewAtMs) {
      await queueCharges(db, Date.now());
      renewAtMs = Date.now() + RENEW_MS;
    }
    return deliverCharges(db, { now: Date.now, deliver: deliverTo(publisherFor(signal)) });
  }, options);
};
