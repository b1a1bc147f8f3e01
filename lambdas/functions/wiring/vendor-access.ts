import type { Catalog } from '../../core/catalog/catalog.ts';
import type { LedgerFunctionDependencies, VideoFunctionDependencies } from './dependencies.ts';
import type { Environment } from './ledger.ts';
import { keepRefreshing } from './refreshing-value.ts';
import { nameOf, type ReadSecret, readProviderKeys, readSecret } from './secrets.ts';

const REREAD_PAUSE_MS = 60_000;

/**
 * Returns provider keys from memory and checks in the background whether the secret changed. No request waits, and a
 * rotation needs no deployment. An unreadable secret changes nothing.
 */
export const openVendorAccess = async (
  catalog: Catalog,
  environment: Environment,
  { settings, clock, reporting }: Pick<LedgerFunctionDependencies, 'settings' | 'clock' | 'reporting'>,
  readFrom: ReadSecret = readSecret,
): Promise<VideoFunctionDependencies['vendorAccess']> => {
  const read = async (): Promise<VideoFunctionDependencies['vendorAccess']> => {
    const keys = await readProviderKeys(settings, environment, readFrom);
    return createVendorAccess(catalog, { ...environment, ...keys });
  };
  const first = await read();
  if (!settings.PROVIDER_KEYS_SECRET) return first;
  const kept = keepRefreshing(first, {
    read,
    clock,
    pauseMs: REREAD_PAUSE_MS,
    onFailure: (error) => reporting.notice('provider_keys_unreadable', { reason: nameOf(error) }),
  });
  return (providerId) => {
    void kept.refresh();
    return kept.current()(providerId);
  };
};

/**
 * Creates access to the providers of the catalog. For each provider, one variable holds the key and another can replace
 * the URL. Both can be in the environment or in the secret with the provider keys.
 */
export const createVendorAccess = (
  catalog: Catalog,
  values: Environment,
): VideoFunctionDependencies['vendorAccess'] => {
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
