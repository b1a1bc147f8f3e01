import { lookup } from 'node:dns';
import { ulid } from 'ulid';
import { catalogData } from '../../../catalog/index.ts';
import type { Catalog } from '../../core/catalog/catalog.ts';
import { loadCatalog } from '../../core/catalog/load-catalog.ts';
import { createImageFetch } from '../../providers/image-fetch.ts';
import { createUpstreamHttp } from '../../providers/upstream-http.ts';
import { createAddressCounters } from '../../stores/dynamodb/address-counters.ts';
import { createCircuitStore } from '../../stores/dynamodb/circuit-store.ts';
import { createClaimStore } from '../../stores/dynamodb/claim-store.ts';
import { createKeyStore } from '../../stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../stores/dynamodb/ledger-records.ts';
import { createAnswerStore } from '../../stores/s3/answer-store.ts';
import { type Environment, openLedger } from './ledger-parts.ts';
import type { Parts } from './parts.ts';
import { readPepper, readProviderKeys } from './secrets.ts';

export const partsFromEnvironment = async (environment: Environment): Promise<Parts> => {
  const { clients, s3, ...ledgerParts } = openLedger(environment);
  const { settings } = ledgerParts;
  const [pepper, providerKeys] = await Promise.all([readPepper(settings), readProviderKeys(settings, environment)]);
  const catalog = loadCatalog(catalogData, { markup: settings.MARKUP });
  return {
    ...ledgerParts,
    catalog,
    newRequestId: ulid,
    pepper,
    ledgerRecords: createLedgerRecords(clients.repeating, settings.ACCOUNTS_TABLE),
    keys: createKeyStore(clients.repeating, settings.KEYS_TABLE),
    circuitStore: createCircuitStore(clients.once, settings.COUNTERS_TABLE),
    claims: createClaimStore(clients.repeating, settings.IDEMPOTENCY_TABLE),
    answers: createAnswerStore(s3, settings.MEDIA_BUCKET),
    addressCounters: createAddressCounters(clients.once, settings.COUNTERS_TABLE),
    upstreamHttp: createUpstreamHttp(),
    fetchImage: createImageFetch({ lookup }),
    vendorAccess: vendorAccess(catalog, { ...environment, ...providerKeys }),
  };
};

/** A provider is a row of the catalog: its address may be replaced by a variable, its key always comes from one. The
 * secret with the keys may hold addresses as well. */
const vendorAccess = (catalog: Catalog, values: Environment): Parts['vendorAccess'] => {
  for (const { baseUrlVariable } of catalog.providers) refuseNoUrl(baseUrlVariable, values[baseUrlVariable]);
  return (providerId) => {
    const provider = catalog.provider(providerId);
    if (!provider) return undefined;
    const baseUrl = values[provider.baseUrlVariable] || provider.baseUrl;
    const key = values[provider.credential.variable];
    return baseUrl && key ? { baseUrl, key } : undefined;
  };
};

const refuseNoUrl = (variable: string, value: string | undefined): void => {
  if (!value || /^https?:\/\/[^/]/.test(value)) return;
  throw new Error(`${variable}: must be a URL such as http://127.0.0.1:9000/v1`);
};
