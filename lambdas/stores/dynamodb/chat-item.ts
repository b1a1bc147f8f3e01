import type { Chat, CurrentKey, Language, NewKey, Profile } from '../../core/accounts/account-store.ts';
import { THRESHOLD_STANDARD } from '../../core/accounts/low-balance.ts';
import { type Item, number, readBigint, readNumber, readText, text } from './attributes.ts';
import { accountIdOf } from './ledger-items.ts';

export const chatKey = (chatId: string): Item => ({ pk: text(`chat#${chatId}`), sk: text('CHAT') });

export const newChatItem = (chatId: string, accountId: string): Item => ({
  ...chatKey(chatId),
  accountId: text(accountId),
  noticed: number(0),
});

export const toChat = (chatId: string, item: Item): Chat => ({
  id: chatId,
  accountId: readText(item, 'accountId'),
  language: toLanguage(item.language?.S),
  isClosed: item.closed?.BOOL === true,
  noticedVersion: readNumber(item, 'noticed'),
});

const toLanguage = (value: string | undefined): Language | undefined =>
  value === 'en' || value === 'ru' ? value : undefined;

/** Which key is an account's current one. */
export const currentKeyKey = (accountId: string): Item => ({ pk: text(`account#${accountId}`), sk: text('KEY') });

export const toCurrentKeyItem = (accountId: string, { hash, label, isShown }: NewKey, atMs: number): Item => ({
  ...currentKeyKey(accountId),
  hash: text(hash),
  prefix: text(label.prefix),
  lastFour: text(label.lastFour),
  issuedAt: number(atMs),
  shown: { BOOL: isShown },
  revoked: { BOOL: false },
});

export const toCurrentKey = (item: Item): CurrentKey => ({
  hash: readText(item, 'hash'),
  label: { prefix: readText(item, 'prefix'), lastFour: readText(item, 'lastFour') },
  issuedAtMs: readNumber(item, 'issuedAt'),
  isShown: item.shown?.BOOL === true,
  isRevoked: item.revoked?.BOOL === true,
});

/** An account that was made before there were chats has neither attribute. */
export const toProfile = (item: Item): Profile => ({
  accountId: accountIdOf(item),
  chatId: item.chat?.S,
  thresholdPicos: thresholdOf(item),
});

export const thresholdOf = (item: Item): bigint =>
  item.threshold === undefined ? THRESHOLD_STANDARD : readBigint(item, 'threshold');
