import { randomBytes } from 'node:crypto';
import { catalogData } from '../catalog/index.ts';
import { hashApiKey, keyIdOf, makeApiKey } from '../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import { keyCapOf } from '../lambdas/core/ledger/caps.ts';
import { PICOS_PER_USD } from '../lambdas/core/money/usd.ts';
import { newRequestId, systemClock } from '../lambdas/functions/wiring/ledger.ts';
import { createTextHandler } from '../lambdas/functions/wiring/text-handler.ts';
import { withTracing } from '../lambdas/functions/wiring/tracing.ts';
import { installLambdaRuntime, streaming } from '../lambdas/host/lambda-runtime.ts';
import { startHost } from '../lambdas/host/server.ts';
import { createUpstreamHttp } from '../lambdas/providers/upstream-http.ts';
import { readSettings } from '../lambdas/settings.ts';
import { MemoryAddressCounters } from '../test/support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../test/support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../test/support/memory/memory-ledger-store.ts';
import { memoryStores, noTables } from '../test/support/memory/memory-stores.ts';

/** Starts the real host and handlers on in-memory stores, so that only the gateway's own time is measured. */
const pepper = 'a pepper for the bench';
const apiKey = makeApiKey(randomBytes(32));
const ledgerStore = new MemoryLedgerStore();
const keys = new MemoryKeyStore(ledgerStore);
await keys.put(hashApiKey(pepper, apiKey), 'bench');
await ledgerStore.createAccount('bench', Date.now());
await ledgerStore.credit({
  accountId: 'bench',
  ref: 'bench',
  amountPicos: 1_000_000n * PICOS_PER_USD,
  reason: 'bench',
  at: 0,
});
/** A further API key of the account, with a cap per day. */
const cappedKey = makeApiKey(randomBytes(32));
const cappedHash = hashApiKey(pepper, cappedKey);
ledgerStore.setCap('bench', keyIdOf(cappedHash), { limitPicos: 100_000n * PICOS_PER_USD, kind: 'day' }, Date.now());
const account = await ledgerStore.readAccount('bench');
const limits = { cap: account && keyCapOf(account.caps, keyIdOf(cappedHash)) };
await keys.put(cappedHash, 'bench', limits);

/** Forgets charge records, because copying and keeping them costs memory and time that no real store takes here. */
ledgerStore.putRecord = async () => ({ kind: 'written' });

let trips = 0;
/** Counts the calls of a store. */
const counted = <Store extends object>(store: Store): Store => {
  for (let type = Object.getPrototypeOf(store); type !== Object.prototype; type = Object.getPrototypeOf(type)) {
    for (const name of Object.getOwnPropertyNames(type)) {
      const member: unknown = Reflect.get(store, name);
      if (name === 'constructor' || typeof member !== 'function') continue;
      const call = member.bind(store);
      Reflect.set(store, name, (...values: unknown[]) => {
        trips += 1;
        return call(...values);
      });
    }
  }
  return store;
};
process.on('SIGUSR2', () => process.stdout.write(`${trips}\n`));

installLambdaRuntime();
const baseUrl = `http://127.0.0.1:${process.env.BENCH_UPSTREAM_PORT}/v1`;
const vendorAccess = { baseUrl, key: 'bench', credentialId: 'bench' };
const many = { LIMIT_KEY_PER_SECOND: '100000', LIMIT_KEY_BURST: '100000' };
const parts = {
  settings: readSettings({
    ...many,
    LIMIT_ADDRESS_PER_SECOND: '100000',
    LIMIT_ADDRESS_BURST: '100000',
    OTEL_EXPORTER_OTLP_ENDPOINT: process.env.BENCH_COLLECTOR,
    ...noTables,
  }),
  catalog: loadCatalog(catalogData),
  clock: systemClock,
  random: Math.random,
  newRequestId,
  pepper,
  addressCounters: new MemoryAddressCounters(),
  ...memoryStores(ledgerStore, keys),
  ledgerStore: counted(ledgerStore),
  keys: counted(keys),
  upstreamHttp: createUpstreamHttp(),
  fetchImage: () => Promise.reject(new Error('The benchmark fetches no images.')),
  vendorAccess: () => vendorAccess,
  sendWebhook: () => Promise.reject(new Error('The benchmark sends no webhooks.')),
  reporting: { finished: () => undefined, notice: () => undefined, measured: () => undefined },
};
const handler = streaming(createTextHandler(withTracing(parts, {})));
const host = await startHost({
  handlers: { text: handler },
  port: 0,
  address: '127.0.0.1',
  now: Date.now,
  newRequestId,
  onCrash: (error) => process.stderr.write(`${error}\n`),
});
process.stdout.write(`${host.port} ${apiKey} ${cappedKey}\n`);
