import { AddressLimit, bucketOf, ProcessBuckets } from '../../core/limits/rate-limit.ts';
import { BodyBudget } from '../../http/body-budget.ts';
import type { HttpPorts } from '../../http/handler.ts';
import type { Parts } from './dependencies.ts';

export const toHttpPorts = (parts: Parts): HttpPorts => {
  const { settings, clock } = parts;
  const keyBucket = bucketOf(settings.LIMIT_KEY_PER_SECOND, settings.LIMIT_KEY_BURST);
  const addressBucket = bucketOf(settings.LIMIT_ADDRESS_PER_SECOND, settings.LIMIT_ADDRESS_BURST);
  return {
    clock,
    newRequestId: parts.newRequestId,
    frontDoor: parts.frontDoor,
    admission: {
      addressLimit: new AddressLimit(addressBucket, parts.addressCounters, clock),
      keyBucket,
      keyBuckets: new ProcessBuckets(keyBucket),
      keys: parts.keys,
      pepper: parts.pepper,
      olderPeppers: parts.olderPeppers,
      clock,
    },
    secrets: parts.secrets,
    chatLimit: new AddressLimit(keyBucket, parts.addressCounters, clock),
    bodies: new BodyBudget(settings.BODY_BUDGET_BYTES, clock),
    finished: parts.reporting.finished,
  };
};
