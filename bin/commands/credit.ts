import type { Command } from 'commander';
import { type Account, balanceOf } from '../../lambdas/core/ledger/ledger.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { readAccount } from '../account-facts.ts';
import { type MoneyOptions, toAmount, withMoney } from '../command-options.ts';
import { failed, refused } from '../exit.ts';
import { printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface CreditOptions extends MoneyOptions {
  /** Amount in pico-USD, above 0. */
  readonly amount: bigint;
}

export const addCreditCommand = (accounts: Command, terminal: Terminal): void => {
  withMoney(accounts.command('credit <account>').description('add money to an account'))
    .requiredOption('--amount <usd>', 'amount in USD, above 0', toAmount)
    .action(async (accountId: string, options: CreditOptions) => {
      const result = await atPlace(terminal, options, (place) => credit(place, terminal, accountId, options));
      if (result.repeated) terminal.status(`--ref ${options.ref}: already credited. Nothing was added.`);
      await printFacts(terminal, options.json === true, result);
    });
};

const credit = async (place: Place, terminal: Terminal, accountId: string, options: CreditOptions) => {
  const { amount, ref, reason, dryRun } = options;
  const before = await readAccount(place, accountId);
  const credits = await place.stores.records.readCredits(accountId);
  const earlier = credits.find((record) => record.ref === ref);
  if (earlier && earlier.amountPicos !== amount) throw otherAmount(ref, earlier.amountPicos);
  const toResult = (after: Account, repeated: boolean) => ({
    account: accountId,
    ref,
    amount_usd: formatUsd(amount),
    repeated,
    balance_before_usd: formatUsd(balanceOf(before)),
    balance_after_usd: formatUsd(balanceOf(after)),
  });
  if (earlier) return toResult(before, true);
  if (dryRun) {
    printDryRun(terminal);
    return toResult({ ...before, creditedPicos: before.creditedPicos + amount }, false);
  }
  await confirmWrite(
    terminal,
    options,
    `Credit ${formatUsd(amount)} USD to ${accountId}? Its balance is ${formatUsd(balanceOf(before))} USD.`,
  );
  const request = { accountId, ref, amountPicos: amount, reason, at: Date.now() };
  const reply = await retryUntilDefinite(steady, () => place.stores.ledger.credit(request));
  if (reply.kind === 'no-account') throw failed(`${accountId}: no such account. List them with \`accounts list\`.`);
  if (reply.kind === 'other-amount') throw otherAmount(ref, reply.amountPicos);
  return toResult(await readAccount(place, accountId), reply.kind === 'repeated');
};

const otherAmount = (ref: string, amountPicos: bigint) =>
  refused(`--ref ${ref}: already credited with ${formatUsd(amountPicos)} USD. Use another --ref for another payment.`);
