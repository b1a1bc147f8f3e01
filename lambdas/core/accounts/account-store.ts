import type { NewKey } from './keys.ts';

/** Language of the bot. */
export type Language = 'en' | 'ru';

/** A private chat with the bot. */
export interface Chat {
  readonly id: string;
  readonly accountId: string;
  /** That of its user, once known. */
  readonly language: Language | undefined;
  /** Its user does not let the bot write any more (KEY-3). */
  readonly isClosed: boolean;
  /** Account version of the latest low-balance notification; 0 before the first. */
  readonly noticedVersion: number;
}

/** What an account has beside its money. */
export interface Profile {
  readonly accountId: string;
  readonly chatId: string | undefined;
  /** Where a notice is sent; 0 is never. Pico-USD. */
  readonly thresholdPicos: bigint;
}

export interface NewAccount {
  readonly accountId: string;
  /** The chat that the account belongs to, if it has one. */
  readonly chatId: string | undefined;
  readonly key: NewKey;
  /** A first credit, under the reference `start`; 0 for none. Pico-USD. */
  readonly creditPicos: bigint;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Accounts and their bot chats. Each method is one call to the store: a consistent read, or one conditional write that happens as a
 * whole or not at all. Throws StoreError if the store does not confirm the call. No method repeats a call.
 */
export interface AccountStore {
  /** Account, key, first credit and chat; nothing at all if the account or the chat is there. */
  open(account: NewAccount): Promise<'opened' | 'exists'>;
  chat(chatId: string): Promise<Chat | undefined>;
  profile(accountId: string): Promise<Profile | undefined>;
  /** Also sets the current key. Returns `changed`, and writes nothing, if that key is another one than `hash`. */
  setBlocked(
    accountId: string,
    isBlocked: boolean,
    hash: string | undefined,
  ): Promise<'set' | 'changed' | 'no-account'>;
  setThreshold(accountId: string, picos: bigint): Promise<'set' | 'no-account'>;
  /** A chat that is not there is not made. */
  setLanguage(chatId: string, language: Language): Promise<void>;
  setChatClosed(chatId: string, isClosed: boolean): Promise<void>;
  /** Records a low-balance notification. An earlier version than the recorded one changes nothing. */
  markNoticed(chatId: string, version: number): Promise<void>;
}

/** Form of account ids, without characters that have a meaning in item keys or on command lines. */
export const ACCOUNT_ID_FORM = /^[0-9A-Za-z][0-9A-Za-z._@:+-]{0,63}$/;

/** The same in words. */
export const ACCOUNT_ID_RULE = '1 to 64 letters, digits and . _ @ : + -, starting with a letter or digit';

export const isAccountId = (text: string): boolean => ACCOUNT_ID_FORM.test(text);
