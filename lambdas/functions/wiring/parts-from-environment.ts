import { ulid } from 'ulid';
import { catalogData } from '../../../catalog/index.ts';
import type { Catalog } from '../../core/catalog/catalog.ts';
import { loadCatalog } from '../../core/catalog/load-catalog.ts';
import type { Clock } from '../../core/clock.ts';
import { createUpstreamHttp } from '../../providers/upstream-http.ts';
import { readSettings } from '../../settings.ts';
import { createAddressCounters } from '../../stores/dynamodb/address-counters.ts';
import { createClients } from '../../stores/dynamodb/client.ts';
import { createKeyStore } from '../../stores/dynamodb/key-store.ts';
import { createLedgerStore } from '../../stores/dynamodb/ledger-store.ts';
import type { Parts } from './parts.ts';
import { createReporting } from './reporting.ts';
import { readPepper, readProviderKeys } from './secrets.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const systemClock: Clock = {
  now: Date.now,
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export const partsFromEnvironment = async (environment: Environment): Promise<Parts> => {
  const settings = readSettings(environment);
  const catalog = loadCatalog(catalogData, { markup: settings.MARKUP });
  const clients = createClients({ endpoint: settings.DYNAMODB_ENDPOINT, region: environment.AWS_REGION });
  return {
    settings,
    catalog,
    clock: systemClock,
    random: Math.random,
    newRequestId: ulid,
    pepper: await readPepper(settings),
    keys: createKeyStore(clients.repeating, settings.KEYS_TABLE),
    addressCounters: createAddressCounters(clients.once, settings.COUNTERS_TABLE),
    ledgerStore: createLedgerStore(clients, settings.ACCOUNTS_TABLE),
    upstreamHttp: createUpstreamHttp(),
    vendorAccess: vendorAccess(catalog, environment, await readProviderKeys(settings, environment)),
    reporting: createReporting(settings),
  };
};

/** A provider is a row of the catalog: its address may be replaced by a variable, its key always comes from one. */
const vendorAccess =
  (catalog: Catalog, environment: Environment, keys: Environment): Parts['vendorAccess'] =>
  (providerId) => {
    const provider = catalog.provider(providerId);
    if (!provider) return undefined;
    const baseUrl = environment[provider.baseUrlVariable] || provider.baseUrl;
    const key = keys[provider.credential.variable];
    return baseUrl && key ? { baseUrl, key } : undefined;
  };
