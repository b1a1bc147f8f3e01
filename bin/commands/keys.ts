import type { Command } from 'commander';
import { isAccountId } from '../../lambdas/core/accounts/account-store.ts';
import { issueKey, rotateKey } from '../../lambdas/core/accounts/issue-key.ts';
import type { CurrentKey } from '../../lambdas/core/accounts/key-store.ts';
import { keyIdOf, toMasked } from '../../lambdas/core/accounts/keys.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { readAccount } from '../account-facts.ts';
import { accountIdRule, type ReasonOptions, withReason } from '../command-options.ts';
import { failed, misused, refused, whyOf } from '../exit.ts';
import { openKeyDependencies } from '../keys-at.ts';
import { printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation, steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface IssueOptions extends ReasonOptions {
  readonly create?: true;
}

type Work<Options> = (place: Place, terminal: Terminal, accountId: string, options: Options) => Promise<Told>;

/** What was done, and the key that is told once. */
interface Told {
  readonly account: string;
  readonly id: string | null;
  readonly masked: string | null;
  readonly key?: string;
  readonly revoked?: true;
}

export const addKeysCommands = (program: Command, terminal: Terminal): void => {
  const keys = program.command('keys').description('keys of accounts; a new one is printed once, on stdout');
  const add = <Options extends ReasonOptions>(command: Command, work: Work<Options>): void => {
    command.action(async (accountId: string, options: Options) => {
      const told = await atPlace(terminal, options, (place) => work(place, terminal, accountId, options));
      const isRead = await print(terminal, options.json === true, told).catch((error: unknown) => {
        if (told.key === undefined) throw error;
        terminal.status(whyOf(error));
        return false;
      });
      if (told.key !== undefined && !isRead)
        throw failed(`Nobody read the key of ${accountId}, and it is shown once. \`keys rotate\` gives it another.`);
    });
  };
  const issuing = keys.command('issue <account>').description('give an account without a working key one');
  add(withReason(issuing).option('--create', 'open the account if it is not there'), issue);
  add(withReason(keys.command('rotate <account>').description('put a new key in place of the old one')), rotate);
  add(
    withReason(keys.command('revoke <account>').description('end the key of an account, without another one')),
    revoke,
  );
};

const print = async (terminal: Terminal, asJson: boolean, told: Told): Promise<boolean> => {
  if (asJson || told.key === undefined) return printFacts(terminal, asJson, { ...told });
  terminal.status(`The key of ${told.account}. It is shown this once.`);
  return terminal.print(`${told.key}\n`);
};

const toTold = (accountId: string, key: Pick<CurrentKey, 'hash' | 'label'>, apiKey?: string): Told => ({
  account: accountId,
  id: keyIdOf(key.hash),
  masked: toMasked(key.label),
  ...(apiKey === undefined ? {} : { key: apiKey }),
});

const dry = (terminal: Terminal, account: string): Told => {
  printDryRun(terminal);
  return { account, id: null, masked: null };
};

const issue: Work<IssueOptions> = async (place, terminal, accountId, options) => {
  const { accounts, keys, ledger } = place.stores;
  const account = await ledger.readAccount(accountId);
  if (!account && !isAccountId(accountId)) throw misused(`The id of an account ${accountIdRule}.`);
  if (!account && !options.create) throw refused(`There is no account ${accountId}. Add --create to open it.`);
  if (account?.status === 'blocked') throw blocked(accountId);
  const current = await keys.currentKey(accountId);
  if (current && !current.isRevoked) throw hasKey(accountId, current);
  const deps = { ...(await openKeyDependencies(place)), ...steady, accounts, keys };
  if (options.dryRun) return dry(terminal, accountId);
  await confirmWrite(
    terminal,
    options,
    account ? `Issue a key to ${accountId}?` : `Open the account ${accountId}, with a key?`,
  );
  await logOperation(place, accountId, 'keys issue', options);
  const issued = await issueKey(deps, accountId, account ? current : 'new');
  if (issued.kind === 'has-key') throw hasKey(accountId, issued.current);
  if (issued.kind === 'refused')
    throw refused(`${accountId} was blocked or changed meanwhile. Look at it by \`accounts show\`, and try again.`);
  const { made } = issued;
  return toTold(accountId, made.key, made.apiKey);
};

const rotate: Work<ReasonOptions> = async (place, terminal, accountId, options) => {
  const account = await readAccount(place, accountId);
  if (account.status === 'blocked') throw blocked(accountId);
  const current = await activeKey(place, accountId);
  const deps = { ...(await openKeyDependencies(place)), ...steady, keys: place.stores.keys };
  if (options.dryRun) return dry(terminal, accountId);
  await confirmWrite(terminal, options, `Replace ${nameOf(accountId, current)}`);
  await logOperation(place, accountId, 'keys rotate', options);
  const { apiKey, id, label } = await rotateKey(deps, { accountId, keyId: keyIdOf(current.hash) });
  return { account: accountId, id, masked: toMasked(label), key: apiKey };
};

const revoke: Work<ReasonOptions> = async (place, terminal, accountId, options) => {
  await readAccount(place, accountId);
  const current = await activeKey(place, accountId);
  if (options.dryRun) return dry(terminal, accountId);
  await confirmWrite(terminal, options, `Revoke ${nameOf(accountId, current)}`);
  await logOperation(place, accountId, 'keys revoke', options);
  const { keys } = place.stores;
  if ((await retryUntilDefinite(steady, () => keys.revokeKey(accountId, current.hash))) === 'changed') {
    throw refused(`The key of ${accountId} was replaced meanwhile. Look at the account again.`);
  }
  return { ...toTold(accountId, current), revoked: true };
};

const nameOf = (accountId: string, { label }: CurrentKey): string =>
  `the key ${toMasked(label)} of ${accountId}? It stops working at once.`;

const activeKey = async ({ stores }: Place, accountId: string): Promise<CurrentKey> => {
  const current = await stores.keys.currentKey(accountId);
  if (current && !current.isRevoked) return current;
  throw refused(`${accountId} has no working key. \`keys issue\` gives it one.`);
};

const blocked = (accountId: string) => refused(`${accountId} is blocked. Unblock it first.`);

const hasKey = (accountId: string, { label }: CurrentKey) =>
  refused(`${accountId} has the key ${toMasked(label)} already. \`keys rotate\` replaces it.`);
