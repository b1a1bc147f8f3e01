import type { KeyLabel } from './keys.ts';

/** A key that was just made, without the key itself. */
export interface NewKey {
  /** HMAC-SHA256 of the key under the pepper, in hex. */
  readonly hash: string;
  readonly label: KeyLabel;
  /** Which pepper. */
  readonly pepperId: string;
  /** Its owner has been told it, as far as is known. */
  readonly isShown: boolean;
}

/** The one key of an account. It stays the current one when it is revoked without a successor. */
export interface CurrentKey {
  readonly hash: string;
  readonly label: KeyLabel;
  /** Unix milliseconds. */
  readonly issuedAtMs: number;
  readonly isShown: boolean;
  readonly isRevoked: boolean;
}

/** What the bot speaks. */
export type Language = 'en' | 'ru';

/** A private chat with the bot. */
export interface Chat {
  readonly id: string;
  readonly accountId: string;
  /** That of its user, once known. */
  readonly language: Language | undefined;
  /** Its user does not let the bot write any more (KEY-3). */
  readonly isClosed: boolean;
  /** The version of the account whose low balance was told last; 0 before the first. */
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

export interface KeyReplacement {
  readonly accountId: string;
  readonly oldHash: string;
  readonly key: NewKey;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Accounts, their keys and their chats. Every method is one call to the store: a read is consistent, a write has its condition and
 * happens as a whole or not at all. Throws StoreError when that call brought no definite answer; none repeats a call by itself.
 */
export interface AccountStore {
  /** Account, key, first credit and chat; nothing at all if the account or the chat is there. */
  open(account: NewAccount): Promise<'opened' | 'exists'>;
  chat(chatId: string): Promise<Chat | undefined>;
  profile(accountId: string): Promise<Profile | undefined>;
  currentKey(accountId: string): Promise<CurrentKey | undefined>;
  /** For an account without any. */
  putFirstKey(accountId: string, key: NewKey, atMs: number): Promise<'put' | 'has-key' | 'no-account'>;
  /** Puts the new key and revokes the old one for ever, if that is still the current one (KEY-2). `blocked`: nothing was changed. */
  replaceKey(replacement: KeyReplacement): Promise<'replaced' | 'changed' | 'blocked'>;
  /** Revokes the current key, if it is still this one, and puts none in its place. */
  revokeKey(accountId: string, hash: string): Promise<'revoked' | 'changed'>;
  /** Its owner has been told it. Of a key that is no longer current nothing is written. */
  markShown(accountId: string, hash: string): Promise<void>;
  /** The account and its key, which is this one or none at all; else `changed`, and nothing was written. */
  setBlocked(
    accountId: string,
    isBlocked: boolean,
    hash: string | undefined,
  ): Promise<'set' | 'changed' | 'no-account'>;
  setThreshold(accountId: string, picos: bigint): Promise<'set' | 'no-account'>;
  /** A chat that is not there is not made. */
  setLanguage(chatId: string, language: Language): Promise<void>;
  setChatClosed(chatId: string, isClosed: boolean): Promise<void>;
  /** The low balance of this version, and of all before it, has been told. A later one stays. */
  markNoticed(chatId: string, version: number): Promise<void>;
}

/** What people type and what stands in the database: no sign that means something in either. */
export const ACCOUNT_ID_FORM = /^[0-9A-Za-z][0-9A-Za-z._@:+-]{0,63}$/;

/** The same in words. */
export const ACCOUNT_ID_RULE = '1 to 64 letters, digits and . _ @ : + -, of which the first is a letter or digit';

export const isAccountId = (text: string): boolean => ACCOUNT_ID_FORM.test(text);
