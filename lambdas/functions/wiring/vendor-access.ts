import type { Catalog } from '../../core/catalog/catalog.ts';
import { CredentialChoice } from '../../providers/credential-choice.ts';
import { parseCredentials } from '../../providers/credentials.ts';
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
  {
    settings,
    clock,
    random,
    reporting,
  }: Pick<LedgerFunctionDependencies, 'settings' | 'clock' | 'random' | 'reporting'>,
  readFrom: ReadSecret = readSecret,
): Promise<VideoFunctionDependencies['vendorAccess']> => {
  // The cooldowns outlive a list that was read again.
  const choice = new CredentialChoice({ now: () => clock.now(), random, notice: reporting.notice });
  const read = async (): Promise<VideoFunctionDependencies['vendorAccess']> => {
    const keys = await readProviderKeys(settings, environment, readFrom);
    return createVendorAccess(catalog, { ...environment, ...keys }, choice);
  };
  const first = await read();
  if (!settings.PROVIDER_KEYS_SECRET) return first;
  const kept = keepRefreshing(first, {
    read,
    clock,
    pauseMs: REREAD_PAUSE_MS,
    onFailure: (error) => reporting.notice('provider_keys_unreadable', { reason: nameOf(error) }),
  });
  return (providerId, credentialId) => {
    void kept.refresh();
    return kept.current()(providerId, credentialId);
  };
};

/**
 * Creates access to the providers of the catalog. For each provider, one variable holds the key or a list of credentials,
 * and another can replace the URL. Both can be in the environment or in the secret with the provider keys. Throws an Error
 * without any value if one is malformed.
 */
export const createVendorAccess = (
  catalog: Catalog,
  values: Environment,
  choice: CredentialChoice,
): VideoFunctionDependencies['vendorAccess'] => {
  for (const { baseUrlVariable } of catalog.providers) refuseNoUrl(baseUrlVariable, values[baseUrlVariable]);
  const credentials = new Map(
    catalog.providers.map(({ id, credential: { variable } }) => [id, parseCredentials(variable, values[variable])]),
  );
  return (providerId, credentialId) => {
    const provider = catalog.provider(providerId);
    if (!provider) return undefined;
    const baseUrl = values[provider.baseUrlVariable] || provider.baseUrl;
    const chosen = baseUrl ? choice.choose(providerId, credentials.get(providerId) ?? [], credentialId) : undefined;
    return baseUrl && chosen ? { baseUrl, ...chosen } : undefined;
  };
};

const refuseNoUrl = (variable: string, value: string | undefined): void => {
  if (!value || /^https?:\/\/[^/]/.test(value)) return;
  throw new Error(`${variable}: must be a URL such as http://127.0.0.1:9000/v1`);
};
