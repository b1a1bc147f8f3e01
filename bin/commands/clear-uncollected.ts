import type { Command } from 'commander';
import { isOnProbation } from '../../lambdas/core/ledger/allowance.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { readAccount } from '../account-facts.ts';
import { type ReasonOptions, withReason } from '../command-options.ts';
import { type Facts, printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation, steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

export const addClearUncollectedCommand = (accounts: Command, terminal: Terminal): void => {
  withReason(
    accounts
      .command('clear-uncollected <account>')
      .description('forget the uncollected amounts of an account and end its probation'),
  ).action(async (accountId: string, options: ReasonOptions) => {
    const result = await atPlace(terminal, options, (place) => clear(place, terminal, accountId, options));
    await printFacts(terminal, options.json === true, result);
  });
};

const clear = async (place: Place, terminal: Terminal, accountId: string, options: ReasonOptions): Promise<Facts> => {
  const before = await readAccount(place, accountId);
  const amount = formatUsd(before.uncollected?.picos ?? 0n);
  const result = { account: accountId, uncollected_usd_before: amount, on_probation_before: isOnProbation(before) };
  if (options.dryRun) {
    printDryRun(terminal);
    return result;
  }
  await confirmWrite(terminal, options, `Forget the uncollected ${amount} USD of ${accountId} and end its probation?`);
  await logOperation(place, accountId, 'accounts clear-uncollected', options);
  await retryUntilDefinite(steady, () => place.stores.ledger.clearUncollected(accountId));
  return result;
};
