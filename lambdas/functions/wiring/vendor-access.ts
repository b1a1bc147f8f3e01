import type { Catalog } from '../../core/catalog/catalog.ts';
import type { Environment } from './ledger-parts.ts';
import type { VideoParts } from './parts.ts';

/**
 * A provider is a row of the catalog: its address may be replaced by a variable, its key always comes from one. The secret with the
 * keys may hold addresses as well.
 */
export const createVendorAccess = (catalog: Catalog, values: Environment): VideoParts['vendorAccess'] => {
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
