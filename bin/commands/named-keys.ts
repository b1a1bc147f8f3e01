import type { Command } from 'commander';
import { catalogData } from '../../catalog/index.ts';
import {
  createAccountKey,
  deleteAccountKey,
  editAccountKey,
  findKey,
} from '../../lambdas/core/accounts/account-keys.ts';
import { type KeyListDependencies, listAccountKeys, viewCreatedKey } from '../../lambdas/core/accounts/key-list.ts';
import type { CurrentKey, KeyRingChange, NamedKey } from '../../lambdas/core/accounts/key-ring.ts';
import { type KeyLabel, keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { createSpentByKey } from '../../lambdas/core/ledger/usage-summary.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import { retryUntilDefinite } from '../../lambdas/core/retry.ts';
import { toKeyObject } from '../../lambdas/protocols/keys/key-object.ts';
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
import { type KeyOptions, readKeyChangeOptions, readNewKeyOptions, toKeyError, withProperties } from './key-options.ts';

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

const columns = [
  ...['id', 'name', 'masked', 'last_used_at', 'expires_at', 'limit_usd', 'limit_period', 'spent_usd', 'held_usd'],
  ...['models', 'requests_per_second', 'rights'],
];

const list = async (place: Place, terminal: Terminal, accountId: string, options: ReadOptions): Promise<void> => {
  await readAccount(place, accountId);
  const views = await listAccountKeys(await readingDependencies(place), ownerOf(accountId));
  await printList(terminal, options.json === true, {
    rows: views.map(toKeyObject),
    columns,
    nothing: `${accountId}: has no active API key. Create one with \`keys issue\`.`,
  });
};

interface Writing {
  readonly accountId: string;
  readonly command: string;
  readonly question: string;
  readonly options: ReasonOptions;
}

/**
 * Returns dependencies whose first write asks the operator and logs the operation, after the checks of the change. A dry
 * run writes nothing, and reads the planned keys afterwards.
 */
const writingWith = (
  deps: KeyListDependencies,
  place: Place,
  terminal: Terminal,
  writing: Writing,
): KeyListDependencies => (writing.options.dryRun ? planning(deps) : confirming(deps, place, terminal, writing));

const planning = (deps: KeyListDependencies): KeyListDependencies => {
  let planned: KeyRingChange | undefined;
  return {
    ...deps,
    keys: {
      ...deps.keys,
      ring: async (accountId) =>
        planned
          ? { ...planned.before, ...planned.after, version: planned.before.version + 1 }
          : deps.keys.ring(accountId),
      changeRing: async (change) => {
        planned = change;
        return 'written';
      },
    },
    ledgerStore: {
      readAccount: async (accountId) => planned?.account?.after ?? deps.ledgerStore.readAccount(accountId),
    },
  };
};

const confirming = (
  deps: KeyListDependencies,
  place: Place,
  terminal: Terminal,
  { accountId, command, question, options }: Writing,
): KeyListDependencies => {
  let isConfirmed = options.yes === true;
  let logged: Promise<void> | undefined;
  return {
    ...deps,
    keys: {
      ...deps.keys,
      changeRing: async (change) => {
        if (!isConfirmed) {
          await confirmWrite(terminal, options, question);
          isConfirmed = true;
          // The question can take minutes, so the change is checked again.
          return 'changed';
        }
        const ref = idOfWrite(change);
        logged ??= logOperation(place, accountId, command, { ...options, ...(ref === undefined ? {} : { ref }) });
        await logged;
        return deps.keys.changeRing(change);
      },
    },
  };
};

/** Returns the id of the API key that a change writes. The first key has no own item for its name and rights. */
const idOfWrite = ({ key, before: { first } }: KeyRingChange): string | undefined => {
  const hash = key?.kind === 'add' ? key.key.hash : (key?.hash ?? first?.hash);
  return hash && keyIdOf(hash);
};

const create = async (
  place: Place,
  terminal: Terminal,
  accountId: string,
  options: KeyOptions & ReasonOptions,
): Promise<void> => {
  await refuseBlocked(place, accountId);
  const wanted = readNewKeyOptions(options);
  const question = `Create an API key named "${wanted.name}" for the account ${accountId}?`;
  const writing = { accountId, command: 'keys create', question, options };
  const deps = writingWith(await dependenciesOf(place), place, terminal, writing);
  const created = await createAccountKey(deps, ownerOf(accountId), wanted).catch((error: unknown) => {
    throw toKeyError(error, { accountId });
  });
  const shown = { account: accountId, ...toKeyObject(viewCreatedKey(deps, created)) };
  if (options.dryRun) {
    printDryRun(terminal);
    // Only the creation decides the id.
    await printFacts(terminal, options.json === true, { ...shown, id: null, masked: null });
    return;
  }
  const facts = { ...shown, key: created.apiKey };
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

/** Throws a CliError if the account has no such key. */
const findKeyAt = async (place: Place, { accountId, keyId }: Target): Promise<NamedKey | CurrentKey> => {
  const ring = await retryUntilDefinite(steady, () => place.stores.keys.ring(accountId));
  try {
    const found = findKey(ring, { keyId });
    if (found !== 'first') return found;
  } catch (error) {
    throw toKeyError(error, { accountId, keyId });
  }
  if (!ring.first) throw new Error('the ring has no first key');
  return ring.first;
};

const edit = async (
  place: Place,
  terminal: Terminal,
  { accountId, keyId }: Target,
  options: KeyOptions & ReasonOptions,
): Promise<void> => {
  await readAccount(place, accountId);
  const wanted = readKeyChangeOptions(options);
  const isFirst = 'isRevoked' in (await findKeyAt(place, { accountId, keyId }));
  const question = `Change the API key ${keyId} of ${accountId}?`;
  const writing = { accountId, command: 'keys edit', question, options };
  const deps = writingWith(await readingDependencies(place), place, terminal, writing);
  await editAccountKey(deps, ownerOf(accountId), { keyId }, wanted).catch((error: unknown) => {
    throw toKeyError(error, { accountId, keyId, isFirst });
  });
  const view = (await listAccountKeys(deps, ownerOf(accountId))).find((key) => key.keyId === keyId);
  if (options.dryRun) printDryRun(terminal);
  await printFacts(terminal, options.json === true, {
    account: accountId,
    ...(view ? toKeyObject(view) : { id: keyId }),
  });
};

/** Revokes an API key by its id, and returns its label. Throws GatewayError, and a CliError if the operator declines. */
export const revokeNamedKey = async (
  place: Place,
  terminal: Terminal,
  { accountId, keyId }: Target,
  options: ReasonOptions,
): Promise<KeyLabel> => {
  await readAccount(place, accountId);
  const { label } = await findKeyAt(place, { accountId, keyId });
  const question = `Revoke the API key ${keyId} of ${accountId}? It stops working immediately.`;
  const writing = { accountId, command: 'keys revoke', question, options };
  const deps = writingWith(await readingDependencies(place), place, terminal, writing);
  await deleteAccountKey(deps, ownerOf(accountId), { keyId }).catch((error: unknown) => {
    throw toKeyError(error, { accountId, keyId });
  });
  if (options.dryRun) printDryRun(terminal);
  return label;
};
