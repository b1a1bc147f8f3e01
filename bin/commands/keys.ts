import type { Command } from 'commander';
import { isAccountId } from '../../lambdas/core/accounts/account-store.ts';
import { isCheckAccount } from '../../lambdas/core/accounts/check-account.ts';
import { issueKey, rotateKey } from '../../lambdas/core/accounts/issue-key.ts';
import type { CurrentKey } from '../../lambdas/core/accounts/key-ring.ts';
import { keyIdOf, toMasked } from '../../lambdas/core/accounts/keys.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { readAccount } from '../account-facts.ts';
import { accountIdRule, checkIdRule, type ReasonOptions, withReason } from '../command-options.ts';
import { failed, misused, refused, whyOf } from '../exit.ts';
import { openKeyDependencies } from '../keys-at.ts';
import { printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation, steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';
import { addNamedKeyCommands, revokeNamedKey } from './named-keys.ts';

interface IssueOptions extends ReasonOptions {
  readonly create?: true;
}

interface RevokeOptions extends ReasonOptions {
  readonly key?: string;
}

type Work<Options> = (place: Place, terminal: Terminal, accountId: string, options: Options) => Promise<KeyResult>;

/** Result of a command. `key` is the new API key, which is shown only once. */
interface KeyResult {
  readonly account: string;
  readonly id: string | null;
  readonly masked: string | null;
  readonly key?: string;
  readonly revoked?: true;
}

export const addKeysCommands = (program: Command, terminal: Terminal): void => {
  const keys = program
    .command('keys')
    .description('issue, rotate and revoke API keys; a new key is printed once, on stdout');
  const add = <Options extends ReasonOptions>(command: Command, work: Work<Options>): void => {
    command.action(async (accountId: string, options: Options) => {
      const result = await atPlace(terminal, options, (place) => work(place, terminal, accountId, options));
      const isRead = await print(terminal, options.json === true, result).catch((error: unknown) => {
        if (result.key === undefined) throw error;
        terminal.status(whyOf(error));
        return false;
      });
      if (result.key !== undefined && !isRead)
        throw failed(
          `The new API key of ${accountId} was not printed, and it cannot be shown again. Replace it with \`keys rotate\`.`,
        );
    });
  };
  const issuing = keys.command('issue <account>').description('create an API key for an account that has none');
  add(withReason(issuing).option('--create', 'open the account if it does not exist'), issue);
  add(withReason(keys.command('rotate <account>').description('replace the API key of an account')), rotate);
  const revoking = keys
    .command('revoke <account>')
    .description('end an API key of an account without a replacement: its first key, or the one of --key');
  add(withReason(revoking).option('--key <id>', 'id of the API key, as `keys list` shows it'), revoke);
  addNamedKeyCommands(keys, terminal);
};

const print = async (terminal: Terminal, asJson: boolean, result: KeyResult): Promise<boolean> => {
  if (asJson || result.key === undefined) return printFacts(terminal, asJson, { ...result });
  terminal.status(`API key of ${result.account}. It cannot be shown again.`);
  return terminal.print(`${result.key}\n`);
};

const toKeyResult = (accountId: string, key: Pick<CurrentKey, 'hash' | 'label'>, apiKey?: string): KeyResult => ({
  account: accountId,
  id: keyIdOf(key.hash),
  masked: toMasked(key.label),
  ...(apiKey === undefined ? {} : { key: apiKey }),
});

const dry = (terminal: Terminal, account: string): KeyResult => {
  printDryRun(terminal);
  return { account, id: null, masked: null };
};

const issue: Work<IssueOptions> = async (place, terminal, accountId, options) => {
  if (isCheckAccount(accountId)) throw misused(`<account>: ${checkIdRule}.`);
  const { accounts, keys, ledger } = place.stores;
  const account = await ledger.readAccount(accountId);
  if (!account && !isAccountId(accountId)) throw misused(`<account>: ${accountIdRule}.`);
  if (!account && !options.create) throw refused(`${accountId}: no such account. Use --create to open it.`);
  if (account?.status === 'blocked') throw blocked(accountId);
  const current = await keys.currentKey(accountId);
  if (current && !current.isRevoked) throw hasKey(accountId, current);
  const deps = { ...(await openKeyDependencies(place)), ...steady, accounts, keys };
  if (options.dryRun) return dry(terminal, accountId);
  await confirmWrite(
    terminal,
    options,
    account
      ? `Create an API key for the account ${accountId}?`
      : `Create the account ${accountId} and an API key for it?`,
  );
  await logOperation(place, accountId, 'keys issue', options);
  const issued = await issueKey(deps, accountId, account ? current : 'new');
  if (issued.kind === 'has-key') throw hasKey(accountId, issued.current);
  if (issued.kind === 'refused')
    throw refused(`${accountId}: blocked or changed in the meantime. Check it with \`accounts show\`, then try again.`);
  const { made } = issued;
  return toKeyResult(accountId, made.key, made.apiKey);
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

const revoke: Work<RevokeOptions> = async (place, terminal, accountId, options) => {
  const { key: keyId } = options;
  if (keyId !== undefined) {
    const label = await revokeNamedKey(place, terminal, { accountId, keyId }, options);
    return { account: accountId, id: keyId, masked: toMasked(label), revoked: true };
  }
  await readAccount(place, accountId);
  const current = await activeKey(place, accountId);
  if (options.dryRun) {
    printDryRun(terminal);
    return { ...toKeyResult(accountId, current), revoked: true };
  }
  await confirmWrite(terminal, options, `Revoke ${nameOf(accountId, current)}`);
  await logOperation(place, accountId, 'keys revoke', { ...options, ref: keyIdOf(current.hash) });
  const { keys } = place.stores;
  if ((await retryUntilDefinite(steady, () => keys.revokeKey(accountId, current.hash))) === 'changed') {
    throw refused(
      `${accountId}: its API key was replaced in the meantime. Check it with \`accounts show\`, then try again.`,
    );
  }
  return { ...toKeyResult(accountId, current), revoked: true };
};

const nameOf = (accountId: string, { label }: CurrentKey): string =>
  `the API key ${toMasked(label)} of ${accountId}? It stops working immediately.`;

const activeKey = async ({ stores }: Place, accountId: string): Promise<CurrentKey> => {
  const current = await stores.keys.currentKey(accountId);
  if (current && !current.isRevoked) return current;
  throw refused(`${accountId}: has no active API key. Create one with \`keys issue\`.`);
};

const blocked = (accountId: string) => refused(`${accountId}: blocked. Unblock it first with \`accounts unblock\`.`);

const hasKey = (accountId: string, { label }: CurrentKey) =>
  refused(`${accountId}: already has the API key ${toMasked(label)}. Replace it with \`keys rotate\`.`);
