import { type Command, Option } from 'commander';
import { isCheckAccount } from '../../lambdas/core/accounts/check-account.ts';
import { keyIdOf, toMasked } from '../../lambdas/core/accounts/keys.ts';
import { isOnProbation } from '../../lambdas/core/ledger/allowance.ts';
import type { Account } from '../../lambdas/core/ledger/ledger.ts';
import { accountIds } from '../../lambdas/core/ledger/records.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { readAccount, toAccountFacts, toTime } from '../account-facts.ts';
import { type ReadOptions, withReading } from '../command-options.ts';
import { type Facts, plain, printJson, printList, toTable } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { addBlockCommands } from './block.ts';
import { addCreditCommands } from './change-credit.ts';
import { addClearUncollectedCommand } from './clear-uncollected.ts';
import { addStatementCommand } from './statement.ts';

interface ListOptions extends ReadOptions {
  readonly status?: 'active' | 'blocked';
  readonly checks?: true;
}

const columns = ['id', 'status', 'balance_usd', 'available_usd', 'held_usd', 'open_holds'];

export const addAccountsCommands = (program: Command, terminal: Terminal): void => {
  const accounts = program.command('accounts').description('show accounts, change their credit, block and unblock');
  withReading(accounts.command('list').description('list all accounts with their balances'))
    .addOption(new Option('--status <status>', 'only accounts with this status').choices(['active', 'blocked']))
    .option('--checks', 'also the accounts of deployment checks')
    .action(async (options: ListOptions) => {
      const rows = await atPlace(terminal, options, (place) => listAccounts(place, options));
      await printList(terminal, options.json === true, { rows, columns, nothing: 'no accounts' });
    });
  withReading(
    accounts
      .command('show <account>')
      .description('show one account: balance, API key, holds, credits and operator actions'),
  ).action(async (accountId: string, options: ReadOptions) => {
    const shown = await atPlace(terminal, options, (place) => showAccount(place, accountId));
    if (options.json) await printJson(terminal, shown);
    else await terminal.print(toText(shown));
  });
  addStatementCommand(accounts, terminal);
  addCreditCommands(accounts, terminal);
  addBlockCommands(accounts, terminal);
  addClearUncollectedCommand(accounts, terminal);
};

const listAccounts = async ({ stores }: Place, { status, checks }: ListOptions): Promise<readonly Facts[]> => {
  const rows: ReturnType<typeof toAccountFacts>[] = [];
  for await (const id of accountIds(stores.records)) {
    if (!checks && isCheckAccount(id)) continue;
    const account = await stores.ledger.readAccount(id);
    if (account && (status === undefined || account.status === status)) rows.push(toAccountFacts(account));
  }
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1));
};

const showAccount = async (place: Place, accountId: string) => {
  const { accounts, keys, records, operations } = place.stores;
  const account = await readAccount(place, accountId);
  const [profile, { first: key, named }, credits, log] = await Promise.all([
    accounts.profile(accountId),
    keys.ring(accountId),
    records.readCredits(accountId),
    operations.list(accountId),
  ]);
  return {
    ...toAccountFacts(account),
    chat_id: profile?.chatId ?? null,
    threshold_usd: formatUsd(profile?.thresholdPicos ?? 0n),
    uncollected: account.uncollected
      ? { day: account.uncollected.day, amount_usd: formatUsd(account.uncollected.picos) }
      : null,
    probation: probationFacts(account),
    key: key
      ? {
          id: keyIdOf(key.hash),
          masked: toMasked(key.label),
          issued_at: toTime(key.issuedAtMs),
          revoked: key.isRevoked,
        }
      : null,
    named_keys: named.length,
    holds: [...account.holds].map(([id, { amountPicos, expiresAtMs }]) => ({
      id,
      amount_usd: formatUsd(amountPicos),
      expires_at: toTime(expiresAtMs),
    })),
    credits: credits
      .toSorted((one, other) => one.at - other.at)
      .map(({ ref, type, of, amountPicos, returnedPicos = 0n, reason, at }) => ({
        at: toTime(at),
        ref,
        type,
        of: of ?? null,
        amount_usd: formatUsd(amountPicos),
        returned_usd: formatUsd(returnedPicos),
        reason,
      })),
    operations: log.map(({ at, command, ref, reason }) => ({ at: toTime(at), command, ref: ref ?? null, reason })),
  };
};

/** Returns null for an account that is not on probation. */
const probationFacts = (account: Account): { readonly remaining_usd: string } | null =>
  isOnProbation(account)
    ? { remaining_usd: formatUsd((account.probationUntilPicos ?? 0n) - account.spentPicos) }
    : null;

const toText = ({
  key,
  named_keys,
  uncollected,
  probation,
  holds,
  credits,
  operations,
  ...facts
}: Awaited<ReturnType<typeof showAccount>>): string => {
  const lines = Object.entries({
    ...facts,
    uncollected: uncollected && `${uncollected.amount_usd} USD on ${uncollected.day}`,
    probation: probation && `until ${probation.remaining_usd} USD more are charged`,
    key: key ? `${key.masked} (${key.id}), issued ${key.issued_at}${key.revoked ? ', revoked' : ''}` : null,
    named_keys: named_keys === 0 ? '0' : `${named_keys}, see \`keys list\``,
  }).map(([name, value]) => `${name.padEnd(13)}  ${plain(String(value ?? '-'))}\n`);
  const part = (title: string, rows: readonly Facts[]): string =>
    rows[0] ? `\n${title}\n${toTable(Object.keys(rows[0]), rows)}` : '';
  return lines.join('') + part('holds', holds) + part('credits', credits) + part('operations', operations);
};
