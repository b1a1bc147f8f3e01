import { ulid } from 'ulid';
import { issueKey } from '../../lambdas/core/accounts/issue-key.ts';
import { creditAccount } from '../../lambdas/core/ledger/credit.ts';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { failed, whyOf } from '../exit.ts';
import { openKeyDependencies } from '../keys-at.ts';
import type { Place } from '../place.ts';
import { logOperation, steady } from '../with-retries.ts';

/** Available amount of the account at the start of a check: enough for one short chat completion. */
const MONEY_PICOS = parseUsd('0.05');

const COMMAND = 'check:deployed';
const REASON = 'check of the deployment';

/**
 * Makes an API key for a check account and returns it. Opens the account if it does not exist, and revokes an
 * earlier key. Throws a CliError for a blocked account.
 */
export const makeCheckKey = async (place: Place, accountId: string): Promise<string> => {
  const { accounts, keys, ledger } = place.stores;
  const account = await ledger.readAccount(accountId);
  if (account?.status === 'blocked')
    throw failed(`${accountId}: blocked. Unblock it with \`accounts unblock\`, then run the check again.`);
  const deps = { ...(await openKeyDependencies(place)), ...steady, accounts, keys };
  await logOperation(place, accountId, COMMAND, { reason: REASON });
  // Replaces a key that an interrupted check left behind, which revokes it.
  const issued = await issueKey(deps, accountId, account ? await keys.currentKey(accountId) : 'new');
  if (issued.kind === 'issued') return issued.made.apiKey;
  throw failed(`${accountId}: another check has replaced its API key. Wait for it to end, then run the check again.`);
};

/** Revokes the API key of the account if it works. Returns whether there was one. */
export const revokeActive = async ({ stores: { keys } }: Place, accountId: string): Promise<boolean> => {
  const current = await retryUntilDefinite(steady, () => keys.currentKey(accountId));
  if (!current || current.isRevoked) return false;
  await retryUntilDefinite(steady, () => keys.revokeKey(accountId, current.hash));
  return true;
};

/** Runs the work with an API key and a little money. Revokes the key afterwards, also if the work fails. */
export const withCheckKey = async <T>(
  place: Place,
  accountId: string,
  work: (apiKey: string) => Promise<T>,
): Promise<T> => {
  try {
    const apiKey = await makeCheckKey(place, accountId);
    await addMoney(place, accountId);
    return await work(apiKey);
  } finally {
    await revokeActive(place, accountId).catch((error: unknown) => {
      throw failed(
        `The API key of ${accountId} may still work: ${whyOf(error)}. Run the check again, which revokes it.`,
        error,
      );
    });
  }
};

/** Credits what is missing. So the account never has more, however often the check runs. */
const addMoney = async ({ stores }: Place, accountId: string): Promise<void> => {
  const account = await stores.ledger.readAccount(accountId);
  const amountPicos = MONEY_PICOS - (account?.availablePicos ?? 0n);
  if (amountPicos <= 0n) return;
  const deps = { ...steady, store: stores.ledger, records: stores.records };
  const order = { accountId, ref: `${COMMAND}-${ulid()}`, type: 'credit', amountPicos, reason: REASON } as const;
  const credited = await creditAccount(deps, order);
  if (!('account' in credited)) throw failed(`${accountId}: cannot be credited with ${formatUsd(amountPicos)} USD.`);
};
