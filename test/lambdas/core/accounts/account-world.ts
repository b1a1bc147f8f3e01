import type { AccountStore } from '../../../../lambdas/core/accounts/account-store.ts';
import { blockAccount } from '../../../../lambdas/core/accounts/block-account.ts';
import { type StartDependencies, type Started, startChat } from '../../../../lambdas/core/accounts/chats.ts';
import { type Issued, issueKey, type RotatedKey, rotateKey } from '../../../../lambdas/core/accounts/issue-key.ts';
import type { CurrentKey } from '../../../../lambdas/core/accounts/key-ring.ts';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import { hashApiKey, keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import { accountsThrough, keysThrough, type Through } from '../../../support/memory/every-call.ts';
import {
  type AccountsAndKeys,
  type FaultPlan,
  type FaultScript,
  withAccountAndKeyFaults,
} from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAccountStore } from '../../../support/memory/memory-account-store.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

export const PEPPER = 'a pepper for tests';
export const START_CREDIT = 2_000_000_000_003n;
export const CHAT = '4711';

export type AccountMethod = keyof AccountStore | keyof KeyStore;
export type AccountFaults = FaultScript<AccountMethod> | FaultPlan<AccountMethod>;

/** In-memory account and key stores shared by several processes, each with its own faults. */
export const accountWorld = () => {
  const clock = new ManualClock();
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  const accounts = new MemoryAccountStore(ledger, keys);
  const hashes: string[] = [];
  const through = (stores: AccountsAndKeys = { accounts, keys }): StartDependencies => ({
    ...recording(stores, hashes),
    clock,
    random: () => 0,
    pepper: PEPPER,
    newKeyBytes: () => crypto.getRandomValues(new Uint8Array(32)),
    newAccountId: () => `account-${crypto.randomUUID()}`,
    startCreditPicos: START_CREDIT,
  });
  const process = (faults: AccountFaults = {}) => {
    const faulty = withAccountAndKeyFaults({ accounts, keys }, faults);
    const deps = through(faulty);
    return {
      calls: faulty.calls,
      landed: () => faulty.landed(),
      start: (chatId = CHAT): Promise<Started> => clock.until(startChat(deps, chatId)),
      issue: (accountId: string, before: CurrentKey | undefined | 'new'): Promise<Issued> =>
        clock.until(issueKey(deps, accountId, before)),
      block: (accountId: string, isBlocked: boolean) => clock.until(blockAccount(deps, accountId, isBlocked)),
      rotate: (accountId: string, keyId: string): Promise<RotatedKey> =>
        clock.until(rotateKey(deps, { accountId, keyId })),
    };
  };
  const usable = async (hash: string): Promise<boolean> => {
    const key = await keys.read(hash);
    return key?.status === 'active' && !key.blocked;
  };
  return {
    clock,
    ledger,
    keys,
    accounts,
    through,
    process,
    /** Hashes of the issued keys that grant access now, including keys whose write failed or landed late. */
    usableKeys: async (): Promise<readonly string[]> => {
      const verdicts = await Promise.all(hashes.map(usable));
      return [...new Set(hashes.filter((_, at) => verdicts[at]))];
    },
    currentHash: async (accountId: string) => (await keys.currentKey(accountId))?.hash,
    currentId: async (accountId: string) => keyIdOf((await keys.currentKey(accountId))?.hash ?? ''),
    audit: (accountId: string) => auditAccount({ store: ledger, records: ledger, clock }, accountId),
  };
};
export type AccountWorld = ReturnType<typeof accountWorld>;

export const hashOf = (apiKey: string): string => hashApiKey(PEPPER, apiKey);

/** Wraps every method of both stores in `around`. */
export const storesThrough = (
  around: Through<AccountMethod>,
  { accounts, keys }: AccountsAndKeys,
): AccountsAndKeys => ({
  accounts: accountsThrough(around, accounts),
  keys: keysThrough(around, keys),
});

/** Records the hash of every key before it is written to the store. */
const recording = ({ accounts, keys }: AccountsAndKeys, hashes: string[]): AccountsAndKeys => ({
  accounts: {
    ...accountsThrough((_method, call) => call(), accounts),
    open: (account) => {
      hashes.push(account.key.hash);
      return accounts.open(account);
    },
  },
  keys: {
    ...keysThrough((_method, call) => call(), keys),
    putFirstKey: (accountId, key, atMs) => {
      hashes.push(key.hash);
      return keys.putFirstKey(accountId, key, atMs);
    },
    replaceKey: (replacement) => {
      hashes.push(replacement.key.hash);
      return keys.replaceKey(replacement);
    },
  },
});
