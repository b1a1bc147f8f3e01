import { FundedAccounts } from '../../core/limits/funded-accounts.ts';
import { AddressLimit, bucketOf, ProcessBuckets } from '../../core/limits/rate-limit.ts';
import { BodyBudget } from '../../http/body-budget.ts';
import { BodyTurns } from '../../http/body-turns.ts';
import type { HttpDependencies } from '../../http/handler.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { createMaintenanceSwitch } from './maintenance.ts';

/** `funded` are the accounts whose holds this process places; by default it places none. */
export const toHttpDependencies = (
  deps: FunctionDependencies,
  funded: HttpDependencies['funded'] = new FundedAccounts(deps.clock),
): HttpDependencies => {
  const { settings, clock } = deps;
  const keyBucket = bucketOf(settings.LIMIT_KEY_PER_SECOND, settings.LIMIT_KEY_BURST);
  const addressBucket = bucketOf(settings.LIMIT_ADDRESS_PER_SECOND, settings.LIMIT_ADDRESS_BURST);
  return {
    clock,
    newRequestId: deps.newRequestId,
    frontDoor: deps.frontDoor,
    maintenance: createMaintenanceSwitch({ store: deps.maintenance, clock, notice: deps.reporting.notice }),
    admission: {
      addressLimit: new AddressLimit(addressBucket, deps.addressCounters, clock),
      keyBucket,
      keyBuckets: new ProcessBuckets(keyBucket),
      keys: deps.keys,
      records: deps.ledgerRecords,
      pepper: deps.pepper,
      olderPeppers: deps.olderPeppers,
      clock,
    },
    secrets: deps.secrets,
    chatLimit: new AddressLimit(keyBucket, deps.addressCounters, clock),
    bodies: new BodyBudget(settings.BODY_BUDGET_BYTES, clock),
    turns: new BodyTurns(clock),
    funded,
    finished: deps.reporting.finished,
    tracing: deps.reporting.tracing,
  };
};
