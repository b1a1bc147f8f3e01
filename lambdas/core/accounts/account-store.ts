import type { NewKey } from './keys.ts';

/** Language of the bot. */
export type Language = 'en' | 'ru';

/** A private chat with the bot. */
export interface Chat {
  readonly id: string;
  readonly accountId: string;
  /** Language of the user, once known. */
  readonly language: Language | undefined;
  /** Whether the user has blocked the bot, so that the bot cannot write (KEY-3). */
  readonly isClosed: boolean;
  /** Account version of the latest low-balance notification; 0 before the first. */
  readonly noticedVersion: number;
}

/** Properties of an account other than its money. */
export interface Profile {
  readonly accountId: string;
  readonly chatId: string | undefined;
  /** Balance at which the low-balance notification is sent, in pico-USD. 0 means never. */
  readonly thresholdPicos: bigint;
}

export interface NewAccount {
  readonly accountId: string;
  /** Bot chat of the account; undefined if it has none. */
  readonly chatId: string | undefined;
  readonly key: NewKey;
  /** First credit in pico-USD, stored under the reference `start`. 0 means none. */
  readonly creditPicos: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Named keys of an account at a version of its key ring. */
export interface NamedHashes {
  readonly version: number;
  readonly hashes: readonly string[];
}

export const NO_NAMED_KEYS: NamedHashes = { version: 0, hashes: [] };

/**
 * Accounts and their bot chats. Each method is one call to the store: a consistent read, or one atomic conditional
 * write. Throws StoreError if the store does not confirm the call. No method repeats a call.
 */
export interface AccountStore {
  /**
   * Writes the account, its API key, the first credit and the bot chat. Writes nothing if the account or the bot chat
   * exists.
   */
  open(account: NewAccount): Promise<'opened' | 'exists'>;
  chat(chatId: string): Promise<Chat | undefined>;
  profile(accountId: string): Promise<Profile | undefined>;
  /**
   * Blocks or unblocks the account and its API keys. Writes nothing and returns `changed` if the first key does not have
   * this `hash`, or if the account has other named keys.
   */
  setBlocked(
    accountId: string,
    isBlocked: boolean,
    hash: string | undefined,
    named?: NamedHashes,
  ): Promise<'set' | 'changed' | 'no-account'>;
  setThreshold(accountId: string, picos: bigint): Promise<'set' | 'no-account'>;
  /** Changes an existing bot chat only. */
  setLanguage(chatId: string, language: Language): Promise<void>;
  setChatClosed(chatId: string, isClosed: boolean): Promise<void>;
  /**
   * Records the account version of a low-balance notification. Changes nothing if a later version is already recorded.
   */
  markNoticed(chatId: string, version: number): Promise<void>;
}

/** Form of account ids, without characters that have a meaning in item keys or on command lines. */
export const ACCOUNT_ID_FORM = /^[0-9A-Za-z][0-9A-Za-z._@:+-]{0,63}$/;

/** Description of `ACCOUNT_ID_FORM` for error messages. */
export const ACCOUNT_ID_RULE = '1 to 64 letters, digits and . _ @ : + -, starting with a letter or digit';

export const isAccountId = (text: string): boolean => ACCOUNT_ID_FORM.test(text);
