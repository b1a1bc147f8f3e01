import { isOnProbation } from '../../../lambdas/core/ledger/allowance.ts';
import { accountIds } from '../../../lambdas/core/ledger/records.ts';
import type { Place } from '../../place.ts';
import { type Finding, ok, tried, warning } from './finding.ts';

/** Longest time for the read of the accounts, in ms. A large table takes longer than an operator waits. */
const READ_MS = 10_000;
/** Number of accounts that the finding names. */
const NAMED_MAX = 10;

/** Names accounts that are on probation (BILL-21). */
export const checkProbation = ({ stores }: Place): Promise<Finding> =>
  tried('probation', 'Check the store.', async () => {
    const endsAtMs = Date.now() + READ_MS;
    const found: string[] = [];
    let checked = 0;
    for await (const id of accountIds(stores.records)) {
      const account = await stores.ledger.readAccount(id);
      if (account && isOnProbation(account)) found.push(id);
      checked += 1;
      if (found.length > NAMED_MAX || Date.now() > endsAtMs) break;
    }
    if (found.length === 0) return ok('probation', `none of ${checked} accounts that were read`);
    const more = found.length > NAMED_MAX ? ' and more' : '';
    return warning(
      'probation',
      `on probation: ${found.slice(0, NAMED_MAX).join(', ')}${more}`,
      'See `accounts show` and `usage` of the account. `accounts clear-uncollected` ends its probation.',
    );
  });
