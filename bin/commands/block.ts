import type { Command } from 'commander';
import { blockAccount } from '../../lambdas/core/accounts/block-account.ts';
import { readAccount } from '../account-facts.ts';
import { type ReasonOptions, withReason } from '../command-options.ts';
import { failed } from '../exit.ts';
import { type Facts, printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation, steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

export const addBlockCommands = (accounts: Command, terminal: Terminal): void => {
  const add = (name: 'block' | 'unblock', description: string): void => {
    withReason(accounts.command(`${name} <account>`).description(description)).action(
      async (accountId: string, options: ReasonOptions) => {
        const result = await atPlace(terminal, options, (place) => change(place, terminal, name, accountId, options));
        await printFacts(terminal, options.json === true, result);
      },
    );
  };
  add('block', 'reject every request of an account; its balance stays');
  add('unblock', 'accept the requests of an account again');
};

const change = async (
  place: Place,
  terminal: Terminal,
  name: 'block' | 'unblock',
  accountId: string,
  options: ReasonOptions,
): Promise<Facts> => {
  const status = name === 'block' ? 'blocked' : 'active';
  const before = await readAccount(place, accountId);
  const result = { account: accountId, status_before: before.status, status };
  if (options.dryRun) {
    printDryRun(terminal);
    return result;
  }
  await confirmWrite(
    terminal,
    options,
    `${name === 'block' ? 'Block' : 'Unblock'} ${accountId}? Its status is ${before.status}.`,
  );
  await logOperation(place, accountId, `accounts ${name}`, options);
  const { accounts, keys } = place.stores;
  const deps = { ...steady, accounts, keys };
  const reply = await blockAccount(deps, accountId, name === 'block');
  if (reply === 'no-account') throw failed(`${accountId}: no such account. List them with \`accounts list\`.`);
  if (reply === 'changing')
    throw failed(`${accountId}: its API key keeps changing. Nothing was changed. Run the same command again.`);
  return result;
};
