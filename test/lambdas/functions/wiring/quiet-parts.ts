import type { FunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';

/**
 * Dependencies that fetch and send nothing. All providers have the same base URL, and only the summaries of requests
 * are recorded.
 */
export const quietParts = (finished: Summary[], baseUrl = 'https://vendor.test/v1') =>
  ({
    fetchImage: () => Promise.reject(new Error('no image is fetched here')),
    vendorAccess: () => ({ baseUrl, key: 'sk-vendor-canary', credentialId: 'one' }),
    sendWebhook: () => Promise.reject(new Error('no webhook is sent here')),
    reporting: {
      finished: (_id, summary) => finished.push({ ...summary }),
      notice: () => undefined,
      measured: () => undefined,
    },
  }) satisfies Partial<FunctionDependencies>;
