import {
  type AccountStore,
  type Chat,
  type Language,
  type NamedHashes,
  type NewAccount,
  NO_NAMED_KEYS,
  type Profile,
} from '../../../lambdas/core/accounts/account-store.ts';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../lambdas/core/accounts/low-balance.ts';
import type { MemoryKeyStore } from './memory-key-store.ts';
import type { MemoryLedgerStore } from './memory-ledger-store.ts';

/** Accounts on the ledger and the API keys of the same test. Every method is one synchronous step. */
export class MemoryAccountStore implements AccountStore {
  readonly #ledger: MemoryLedgerStore;
  readonly #keys: MemoryKeyStore;
  readonly #chats = new Map<string, Chat>();
  readonly #profiles = new Map<string, Omit<Profile, 'accountId'>>();

  constructor(ledger: MemoryLedgerStore, keys: MemoryKeyStore) {
    this.#ledger = ledger;
    this.#keys = keys;
  }

  async open({ accountId, chatId, key, creditPicos, atMs }: NewAccount): Promise<'opened' | 'exists'> {
    const taken = chatId !== undefined && this.#chats.has(chatId);
    if (
      taken ||
      this.#keys.currentHash(accountId) !== undefined ||
      this.#keys.has(key.hash) ||
      this.#ledger.has(accountId)
    ) {
      return 'exists';
    }
    void this.#ledger.createAccount(accountId, atMs);
    if (creditPicos > 0n) {
      void this.#ledger.credit({
        accountId,
        ref: 'start',
        amountPicos: creditPicos,
        reason: 'first balance',
        at: atMs,
      });
    }
    if (chatId !== undefined)
      this.#chats.set(chatId, { id: chatId, accountId, language: undefined, isClosed: false, noticedVersion: 0 });
    this.#profiles.set(accountId, { chatId, thresholdPicos: LOW_BALANCE_THRESHOLD_DEFAULT });
    this.#keys.makeCurrent(accountId, key, atMs);
    return 'opened';
  }

  async chat(chatId: string): Promise<Chat | undefined> {
    return this.#chats.get(chatId);
  }

  async profile(accountId: string): Promise<Profile | undefined> {
    if (!this.#ledger.has(accountId)) return undefined;
    return {
      accountId,
      ...(this.#profiles.get(accountId) ?? { chatId: undefined, thresholdPicos: LOW_BALANCE_THRESHOLD_DEFAULT }),
    };
  }

  async setBlocked(
    accountId: string,
    isBlocked: boolean,
    hash: string | undefined,
    named: NamedHashes = NO_NAMED_KEYS,
  ): Promise<'set' | 'changed' | 'no-account'> {
    if (!this.#ledger.has(accountId)) return 'no-account';
    const ring = this.#keys.ringNow(accountId);
    if (ring.first?.hash !== hash || ring.version !== named.version) return 'changed';
    this.#ledger.setStatus(accountId, isBlocked ? 'blocked' : 'active');
    for (const each of [...(hash === undefined ? [] : [hash]), ...named.hashes]) {
      void this.#keys.setBlocked(each, isBlocked);
    }
    return 'set';
  }

  async setThreshold(accountId: string, thresholdPicos: bigint): Promise<'set' | 'no-account'> {
    if (!this.#ledger.has(accountId)) return 'no-account';
    const { chatId } = this.#profiles.get(accountId) ?? { chatId: undefined };
    this.#profiles.set(accountId, { chatId, thresholdPicos });
    this.#ledger.touch(accountId);
    return 'set';
  }

  async setLanguage(chatId: string, language: Language): Promise<void> {
    const chat = this.#chats.get(chatId);
    if (chat) this.#chats.set(chatId, { ...chat, language });
  }

  async setChatClosed(chatId: string, isClosed: boolean): Promise<void> {
    const chat = this.#chats.get(chatId);
    if (chat) this.#chats.set(chatId, { ...chat, isClosed });
  }

  async markNoticed(chatId: string, version: number): Promise<void> {
    const chat = this.#chats.get(chatId);
    if (chat && chat.noticedVersion < version) this.#chats.set(chatId, { ...chat, noticedVersion: version });
  }
}
