import { type Command, InvalidArgumentError } from 'commander';
import {
  type CreditOrder,
  type CreditRefusal,
  creditAccount,
  isCreditRef,
  planCredit,
  REF_RULE,
  START_REF,
} from '../../lambdas/core/ledger/credit.ts';
import { type CreditType, changeOf } from '../../lambdas/core/ledger/credit-record.ts';
import { type Account, balanceOf } from '../../lambdas/core/ledger/ledger.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { refusalText } from '../../lambdas/protocols/credits/refusal-text.ts';
import { readAccount } from '../account-facts.ts';
import { type MoneyOptions, toAmount, withMoney } from '../command-options.ts';
import { failed, refused } from '../exit.ts';
import { printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface ChangeOptions extends MoneyOptions {
  /** Amount in pico-USD, above 0. */
  readonly amount: bigint;
  readonly of?: string;
  readonly allowNegative?: true;
}

interface ChangeCommand {
  readonly name: string;
  readonly type: CreditType;
  readonly description: string;
  /** Description of `--of`. Undefined if the command has no such option. */
  readonly of?: string;
  /** Question before the write. */
  readonly question: (amount: string, account: string) => string;
}

const commands: readonly ChangeCommand[] = [
  {
    name: 'credit',
    type: 'credit',
    description: 'add money to an account',
    question: (amount, account) => `Credit ${amount} USD to ${account}?`,
  },
  {
    name: 'debit',
    type: 'debit',
    description: 'take money from an account, to correct a mistake',
    question: (amount, account) => `Debit ${amount} USD from ${account}?`,
  },
  {
    name: 'refund',
    type: 'refund',
    description: 'record that a credit, or a part of it, was paid back',
    of: 'ref of the credit that was paid back',
    question: (amount, account) => `Record a refund of ${amount} USD for ${account}?`,
  },
  {
    name: 'chargeback',
    type: 'chargeback',
    description: 'record that the payer charged a credit, or a part of it, back',
    of: 'ref of the credit that was charged back',
    question: (amount, account) => `Record a chargeback of ${amount} USD for ${account}?`,
  },
  {
    name: 'reverse-chargeback',
    type: 'chargeback_reversed',
    description: 'record that a whole chargeback was reversed',
    of: 'ref of the chargeback, or of its credit',
    question: (amount, account) => `Restore ${amount} USD of a chargeback to ${account}?`,
  },
];

export const addCreditCommands = (accounts: Command, terminal: Terminal): void => {
  for (const change of commands) {
    const command = withMoney(accounts.command(`${change.name} <account>`).description(change.description));
    command.requiredOption('--amount <usd>', 'amount in USD, above 0', toAmount);
    if (change.of !== undefined) command.requiredOption('--of <ref>', change.of, toOf);
    if (change.type === 'debit') command.option('--allow-negative', 'allow a debit above the available amount');
    command.action(async (accountId: string, options: ChangeOptions) => {
      const run = (place: Place) => changeCredit(place, terminal, accountId, { options, change });
      const result = await atPlace(terminal, options, run);
      if (result.repeated) terminal.status(`--ref ${options.ref}: this change was already made. Nothing was changed.`);
      await printFacts(terminal, options.json === true, result);
    });
  }
};

const toOf = (text: string): string => {
  if (text === START_REF)
    throw new InvalidArgumentError(
      'This is the free credit of a new account, which nothing can be refunded from. Use accounts debit.',
    );
  if (isCreditRef(text)) return text;
  throw new InvalidArgumentError(`Must be ${REF_RULE}.`);
};

const changeCredit = async (
  { stores, ...place }: Place,
  terminal: Terminal,
  accountId: string,
  { options, change }: { readonly options: ChangeOptions; readonly change: ChangeCommand },
) => {
  const { amount, ref, reason, of, dryRun, allowNegative } = options;
  const order: CreditOrder = {
    accountId,
    ref,
    type: change.type,
    amountPicos: amount,
    reason,
    ...(of === undefined ? {} : { of }),
    ...(change.type === 'debit' && !allowNegative && { isCovered: true }),
  };
  const before = await readAccount({ stores, ...place }, accountId);
  const toResult = (after: Account, repeated: boolean) => ({
    account: accountId,
    ref,
    ...(of === undefined ? {} : { of }),
    amount_usd: formatUsd(amount),
    repeated,
    balance_before_usd: formatUsd(balanceOf(before)),
    balance_after_usd: formatUsd(balanceOf(after)),
  });
  const plan = planCredit(await stores.records.readCredits(accountId), order);
  if (plan.kind === 'repeated') return toResult(before, true);
  if (plan.kind !== 'new') throw toCliError(plan, order);
  const { availablePicos } = before;
  if (order.isCovered && availablePicos < amount) throw toCliError({ kind: 'not-covered', availablePicos }, order);
  const after = { ...before, creditedPicos: before.creditedPicos + changeOf(order) };
  if (dryRun) {
    printDryRun(terminal);
    return toResult(after, false);
  }
  const question = change.question(formatUsd(amount), accountId);
  await confirmWrite(terminal, options, `${question} Its balance is ${formatUsd(balanceOf(before))} USD.`);
  const deps = { ...steady, store: stores.ledger, records: stores.records };
  const credited = await creditAccount(deps, order);
  if (!('account' in credited)) throw toCliError(credited, order);
  return toResult(credited.account, credited.kind === 'repeated');
};

const toCliError = (refusal: CreditRefusal, order: CreditOrder) => {
  const { code, field, text } = refusalText(refusal, order);
  const options = { account: order.accountId, type: '--ref', amount_usd: '--amount', of: '--of' };
  const option = refusal.kind === 'other-values' ? `--ref ${order.ref}` : options[field];
  const message = `${option}: ${text}`;
  return code === 'not_found' ? failed(message) : refused(message);
};
