import type { Environment } from './gateway-process.ts';

/** The key of every provider in a test. It must never reach a client or a log. */
export const vendorKey = 'vendor-key-c3a1f0';

/** Returns the keys and URLs of all providers, which one server simulates. */
export const vendorEnvironment = (vendorUrl: string): Environment => ({
  OPENAI_API_KEY: vendorKey,
  OPENAI_BASE_URL: `${vendorUrl}/v1`,
  ANTHROPIC_API_KEY: vendorKey,
  ANTHROPIC_BASE_URL: vendorUrl,
  GEMINI_API_KEY: vendorKey,
  GEMINI_BASE_URL: vendorUrl,
  ARK_API_KEY: vendorKey,
  ARK_BASE_URL: `${vendorUrl}/api/v3`,
  BFL_API_KEY: vendorKey,
  BFL_BASE_URL: vendorUrl,
});
