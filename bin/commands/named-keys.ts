import type { Command } from 'commander';
import { catalogData } from '../../catalog/index.ts';
import {
  createAccountKey,
  deleteAccountKey,
  editAccountKey,
  findKey,
} from '../../lambdas/core/accounts/account-keys.ts';
import { type KeyListDependencies, listAccountKeys, viewCreatedKey } from '../../lambdas/core/accounts/key-list.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { createSpentByKey } from '../../lambdas/core/ledger/usage-summary.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { toKeyObject } from '../../lambdas/protocols/keys/key-object.ts';
import { readKeyChange, readNewKey } from '../../lambdas/protocols/keys/key-request.ts';
import { settingsSchema } from '../../lambdas/settings.ts';
import { readAccount } from '../account-facts.ts';
import { type ReadOptions, type ReasonOptions, withReading, withReason } from '../command-options.ts';
import { failed, refused, whyOf } from '../exit.ts';
import { openKeyDependencies } from '../keys-at.ts';
import { printFacts, printList } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation, steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

/** Options of the properties of an API key. `none` removes a restriction or a right. */
interface KeyOptions {
  readonly name?: string;
  readonly limitUsd?: string;
  readonly limitPeriod?: string;
  readonly expiresAt?: string;
  readonly models?: string;
  readonly requestsPerSecond?: string;
  readonly rights?: string;
}

/** Adds the commands for the API keys of an account beside its first key (KEY-8). They act with the rights of the owner. */
export const addNamedKeyCommands = (keys: Command, terminal: Terminal): void => {
  withReading(keys.command('list <account>').description('list the API keys of an account')).action(
    (accountId: string, options: ReadOptions) =>
      atPlace(terminal, options, (place) => list(place, terminal, accountId, options)),
  );
  const creating = keys.command('create <account>').description('create a further API key; it is printed once');
  withProperties(withReason(creating).requiredOption('--name <text>', 'name of the API key')).action(
    (accountId: string, options: KeyOptions & ReasonOptions) =>
      atPlace(terminal, options, (place) => create(place, terminal, accountId, options)),
  );
  const editing = keys.command('edit <account> <key>').description('change an API key by its id');
  withProperties(withReason(editing).option('--name <text>', 'name of the API key')).action(
    (accountId: string, keyId: string, options: KeyOptions & ReasonOptions) =>
      atPlace(terminal, options, (place) => edit(place, terminal, { accountId, keyId }, options)),
  );
};

const withProperties = (command: Command): Command =>
  command
    .option('--limit-usd <amount>', 'cap of the spending in USD, or none')
    .option('--limit-period <period>', 'period of the cap in UTC: total, day or month')
    .option('--expires-at <time>', 'time such as 2026-12-31T00:00:00Z, or none')
    .option('--models <ids>', 'ids of the models that the key can call, separated by commas, or none for all')
    .option('--requests-per-second <number>', 'rate of the key, or none')
    .option('--rights <rights>', 'manage: the key can manage the keys of the account; or none');

const orNull = (text: string | undefined): string | null | undefined => (text === 'none' ? null : text);

/** Returns the options as the body of the API, which checks them. */
const toBody = (options: KeyOptions) => {
  const { name, limitPeriod, rights } = options;
  const models = orNull(options.models);
  const rate = orNull(options.requestsPerSecond);
  return {
    name,
    limit_usd: orNull(options.limitUsd),
    limit_period: limitPeriod,
    expires_at: orNull(options.expiresAt),
    models: models?.split(',').map((id) => id.trim()) ?? models,
    requests_per_second: rate ? Number(rate) : rate,
    rights: rights === 'none' ? [] : rights?.split(','),
  };
};

const dependenciesOf = async (place: Place): Promise<KeyListDependencies> => ({
  ...(await readingDependencies(place)),
  ...(await openKeyDependencies(place)),
});

/** Dependencies without the pepper, which only the creation of a key needs. */
const readingDependencies = async ({ stores, environment }: Place): Promise<KeyListDependencies> => {
  const { LIMIT_KEY_PER_SECOND, LIMIT_KEY_BURST } = settingsSchema.shape;
  return {
    ...steady,
    keys: stores.keys,
    ledgerStore: stores.ledger,
    spentByKey: createSpentByKey({ ...steady, store: stores.ledger, records: stores.records }),
    catalog: loadCatalog(catalogData, { markup: '1' }),
    keyBucket: bucketOf(
      LIMIT_KEY_PER_SECOND.parse(environment.LIMIT_KEY_PER_SECOND),
      LIMIT_KEY_BURST.parse(environment.LIMIT_KEY_BURST),
    ),
    pepper: '',
    newKeyBytes: () => {
      throw new Error('this command creates no API key');
    },
  };
};

const ownerOf = (accountId: string) => ({ accountId, actor: 'owner' }) as const;

const list = async (place: Place, terminal: Terminal, accountId: string, options: ReadOptions): Promise<void> => {
  await readAccount(place, accountId);
  const views = await listAccountKeys(await readingDependencies(place), ownerOf(accountId));
  await printList(terminal, options.json === true, {
    rows: views.map(toKeyObject),
    columns: ['id', 'name', 'masked', 'last_used_at', 'expires_at', 'limit_usd', 'limit_period', 'spent_usd', 'rights'],
    nothing: `${accountId}: has no active API key. Create one with \`keys issue\`.`,
  });
};

const create = async (
  place: Place,
  terminal: Terminal,
  accountId: string,
  options: KeyOptions & ReasonOptions,
): Promise<void> => {
  await refuseBlocked(place, accountId);
  const wanted = readNewKey(toBody(options));
  const deps = await dependenciesOf(place);
  if (options.dryRun) return printDryRun(terminal);
  await confirmWrite(terminal, options, `Create an API key named "${wanted.name}" for the account ${accountId}?`);
  await logOperation(place, accountId, 'keys create', options);
  const created = await createAccountKey(deps, ownerOf(accountId), wanted);
  const facts = { account: accountId, ...toKeyObject(viewCreatedKey(deps, created)), key: created.apiKey };
  const isPrinted = await printSecret(terminal, options.json === true, facts).catch((error: unknown) => {
    terminal.status(whyOf(error));
    return false;
  });
  if (isPrinted) return;
  throw failed(
    `The new API key ${facts.id} of ${accountId} was not printed, and it cannot be shown again. Revoke it with \`keys revoke --key ${facts.id}\`.`,
  );
};

const printSecret = async (
  terminal: Terminal,
  asJson: boolean,
  facts: ReturnType<typeof toKeyObject> & { readonly account: string; readonly key: string },
): Promise<boolean> => {
  if (asJson) return printFacts(terminal, true, facts);
  terminal.status(`API key ${facts.id} of ${facts.account}. It cannot be shown again.`);
  return terminal.print(`${facts.key}\n`);
};

const refuseBlocked = async (place: Place, accountId: string): Promise<void> => {
  const { status } = await readAccount(place, accountId);
  if (status === 'blocked') throw refused(`${accountId}: blocked. Unblock it first with \`accounts unblock\`.`);
};

interface Target {
  readonly accountId: string;
  readonly keyId: string;
}

const edit = async (
  place: Place,
  terminal: Terminal,
  { accountId, keyId }: Target,
  options: KeyOptions & ReasonOptions,
): Promise<void> => {
  await readAccount(place, accountId);
  const wanted = readKeyChange(toBody(options));
  const deps = await readingDependencies(place);
  findKey(await retryUntilDefinite(steady, () => place.stores.keys.ring(accountId)), { keyId });
  if (options.dryRun) return printDryRun(terminal);
  await confirmWrite(terminal, options, `Change the API key ${keyId} of ${accountId}?`);
  await logOperation(place, accountId, 'keys edit', options);
  await editAccountKey(deps, ownerOf(accountId), { keyId }, wanted);
  const view = (await listAccountKeys(deps, ownerOf(accountId))).find((key) => key.keyId === keyId);
  await printFacts(terminal, options.json === true, {
    account: accountId,
    ...(view ? toKeyObject(view) : { id: keyId }),
  });
};

/** Revokes a further key of the account. Throws GatewayError, and a CliError if the operator declines. */
export const revokeNamedKey = async (
  place: Place,
  terminal: Terminal,
  { accountId, keyId }: Target,
  options: ReasonOptions,
): Promise<'revoked' | 'dry-run'> => {
  await readAccount(place, accountId);
  const deps = await readingDependencies(place);
  findKey(await retryUntilDefinite(steady, () => place.stores.keys.ring(accountId)), { keyId });
  if (options.dryRun) return 'dry-run';
  await confirmWrite(terminal, options, `Revoke the API key ${keyId} of ${accountId}? It stops working immediately.`);
  await logOperation(place, accountId, 'keys revoke', options);
  await deleteAccountKey(deps, ownerOf(accountId), { keyId });
  return 'revoked';
};
