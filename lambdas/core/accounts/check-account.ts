/** Start of the ids of accounts with which a check of a deployment calls the gateway. No customer has such an id. */
const CHECK_PREFIX = 'gateway-check.';

/** Ids of the accounts that checks use. */
export const checkAccounts = {
  deployment: `${CHECK_PREFIX}deployment`,
  canary: `${CHECK_PREFIX}canary`,
} as const;

/** Response header of a dry run with the client IP as the gateway sees it. Only check accounts get it (OPS-13). */
export const SEEN_ADDRESS_HEADER = 'x-service-client-ip';

/** Whether the account belongs to a check. Reports about customers leave it out (OPS-13). */
export const isCheckAccount = (accountId: string): boolean => accountId.startsWith(CHECK_PREFIX);
