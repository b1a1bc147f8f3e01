import { hashApiKey, makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import type { Clock } from '../../../lambdas/core/clock.ts';
import { FundedAccounts } from '../../../lambdas/core/limits/funded-accounts.ts';
import {
  type AddressCounters,
  AddressLimit,
  bucketOf,
  ProcessBuckets,
} from '../../../lambdas/core/limits/rate-limit.ts';
import type { MaintenanceState } from '../../../lambdas/core/maintenance.ts';
import type { CallerSecrets } from '../../../lambdas/http/authenticate.ts';
import { BodyBudget } from '../../../lambdas/http/body-budget.ts';
import { BodyTurns } from '../../../lambdas/http/body-turns.ts';
import { type Exchange, json, type RouteHandler, type Summary } from '../../../lambdas/http/exchange.ts';
import { type FrontDoor, openFrontDoor } from '../../../lambdas/http/front-door.ts';
import { createHandler } from '../../../lambdas/http/handler.ts';
import { type RouteName, routes } from '../../../lambdas/routes.ts';
import { withCounterFaults, withKeyFaults } from '../../support/memory/faults.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../support/memory/memory-ledger-store.ts';

const PEPPER = 'pepper-of-the-tests';
export const BOT_TOKEN = '123456:token-of-the-tests';
export const TOP_UP_KEY = 'top-up-key-of-the-tests';

export const keyOf = (seed: number): string => makeApiKey(new Uint8Array(32).fill(seed));
export const hashOf = (key: string): string => hashApiKey(PEPPER, key);

interface ChainOptions {
  readonly keyBurst?: number;
  readonly addressBurst?: number;
  /** Counters that several processes share. */
  readonly chatCounters?: AddressCounters;
  readonly bodyBytes?: number;
  readonly handle?: RouteHandler;
  readonly clock?: ManualClock;
  readonly newRequestId?: () => string;
  readonly frontDoor?: FrontDoor;
  readonly secrets?: CallerSecrets;
  readonly maintenance?: () => Promise<MaintenanceState>;
}

const realClock: Clock = {
  now: Date.now,
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The middleware chain around handlers that return the name of their route. */
export const createChain = async (options: ChainOptions = {}) => {
  const clock = options.clock ?? new ManualClock();
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  const askedKeys = withKeyFaults(keys, {});
  const askedCounters = withCounterFaults(new MemoryAddressCounters(), {});
  const apiKey = keyOf(1);
  await keys.put(hashOf(apiKey), 'account-1');
  const finished: { requestId: string; summary: Summary }[] = [];
  const handled: Exchange[] = [];
  const keyBucket = bucketOf(10, options.keyBurst ?? 15);
  const bodies = new BodyBudget(options.bodyBytes ?? 1_000_000_000, clock);
  const funded = new FundedAccounts(clock);
  let ids = 0;
  const handle: RouteHandler = async (exchange) => {
    handled.push({ ...exchange });
    return options.handle ? options.handle(exchange) : json(200, { route: exchange.route?.name });
  };
  const handlers: Partial<Record<RouteName, RouteHandler>> = {};
  let name: RouteName;
  for (name in routes) handlers[name] = handle;
  const handler = createHandler(
    {
      clock,
      newRequestId:
        options.newRequestId ??
        (() => {
          ids += 1;
          return `OURS${ids}`;
        }),
      frontDoor: options.frontDoor ?? openFrontDoor,
      admission: {
        addressLimit: new AddressLimit(bucketOf(30, options.addressBurst ?? 60), askedCounters, clock),
        keyBucket,
        keyBuckets: new ProcessBuckets(keyBucket),
        keys: askedKeys,
        records: ledger,
        pepper: PEPPER,
        olderPeppers: [],
        clock,
      },
      maintenance: options.maintenance ?? (() => 'off'),
      secrets: options.secrets ?? { botToken: BOT_TOKEN, topUpKey: TOP_UP_KEY },
      chatLimit: new AddressLimit(keyBucket, options.chatCounters ?? new MemoryAddressCounters(), clock),
      bodies,
      // Turns need no control: their timers are short.
      turns: new BodyTurns(realClock),
      funded,
      finished: (requestId, summary) => finished.push({ requestId, summary: { ...summary } }),
    },
    handlers,
  );
  /** Calls of the stores, in order. */
  const calls = () => [...askedKeys.calls, ...askedCounters.calls];
  return { handler, clock, keys, apiKey, finished, handled, bodies, funded, calls };
};
