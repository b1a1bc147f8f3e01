import type { FunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';

/** Nothing is fetched and nothing sent; all vendors have one address; of what is told, only the ends of requests are kept. */
export const quietParts = (finished: Summary[], baseUrl = 'https://vendor.test/v1') =>
  ({
    fetchImage: () => Promise.reject(new Error('no image is fetched here')),
    vendorAccess: () => ({ baseUrl, key: 'sk-vendor-canary' }),
    sendWebhook: () => Promise.reject(new Error('no webhook is sent here')),
    reporting: {
      finished: (_id, summary) => finished.push({ ...summary }),
      notice: () => undefined,
      measured: () => undefined,
    },
  }) satisfies Partial<FunctionDependencies>;
