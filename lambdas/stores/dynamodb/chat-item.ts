import * as z from 'zod';
import type { Chat, Language, Profile } from '../../core/accounts/account-store.ts';
import type { CurrentKey } from '../../core/accounts/key-ring.ts';
import type { NewKey } from '../../core/accounts/keys.ts';
import { type BalanceChange, LOW_BALANCE_THRESHOLD_DEFAULT } from '../../core/accounts/low-balance.ts';
import { type Item, optionalText, readBigint, readNumber, readText } from './item.ts';
import { accountIdOf } from './ledger-items.ts';

export const chatKey = (chatId: string): Item => ({ pk: `chat#${chatId}`, sk: 'CHAT' });

export const newChatItem = (chatId: string, accountId: string): Item => ({
  ...chatKey(chatId),
  accountId,
  noticed: 0,
});

export const toChat = (chatId: string, item: Item): Chat => ({
  id: chatId,
  accountId: readText(item, 'accountId'),
  language: toLanguage(optionalText(item, 'language')),
  isClosed: item.closed === true,
  noticedVersion: readNumber(item, 'noticed'),
});

const toLanguage = (value: string | undefined): Language | undefined =>
  value === 'en' || value === 'ru' ? value : undefined;

/** Key of the item that names an account's current API key. */
export const currentKeyKey = (accountId: string): Item => ({ pk: `account#${accountId}`, sk: 'KEY' });

export const toCurrentKeyItem = (accountId: string, { hash, label, isShown }: NewKey, atMs: number): Item => ({
  ...currentKeyKey(accountId),
  hash,
  prefix: label.prefix,
  lastFour: label.lastFour,
  issuedAt: atMs,
  shown: isShown,
  revoked: false,
});

export const toCurrentKey = (item: Item): CurrentKey => ({
  hash: readText(item, 'hash'),
  label: { prefix: readText(item, 'prefix'), lastFour: readText(item, 'lastFour') },
  issuedAtMs: readNumber(item, 'issuedAt'),
  isShown: item.shown === true,
  isRevoked: item.revoked === true,
});

/** Accounts older than bot chats have neither attribute. */
export const toProfile = (item: Item): Profile => ({
  accountId: accountIdOf(item),
  chatId: optionalText(item, 'chat'),
  thresholdPicos: thresholdOf(item),
});

export const thresholdOf = (item: Item): bigint =>
  item.threshold === undefined ? LOW_BALANCE_THRESHOLD_DEFAULT : readBigint(item, 'threshold');

const textAttribute = z.object({ S: z.string() }).transform(({ S }) => S);
const integerAttribute = z.object({ N: z.string().regex(/^-?\d{1,38}$/) }).transform(({ N }) => BigInt(N));

const recordSchema = z.object({ eventName: z.string(), dynamodb: z.object({ Keys: z.object({ sk: textAttribute }) }) });

const balanceSchema = z
  .object({ credited: integerAttribute, spent: integerAttribute })
  .transform(({ credited, spent }) => credited - spent);

const PARTITION = 'account#';

const changeSchema = z.object({
  dynamodb: z.object({
    OldImage: balanceSchema,
    NewImage: z.intersection(
      balanceSchema.transform((afterPicos) => ({ afterPicos })),
      z.object({
        pk: textAttribute.refine((pk) => pk.startsWith(PARTITION)),
        version: integerAttribute.transform(Number),
        chat: textAttribute.optional(),
        threshold: integerAttribute.default(LOW_BALANCE_THRESHOLD_DEFAULT),
      }),
    ),
  }),
});

/**
 * Reads a record of the accounts table's stream. Returns undefined for items other than accounts and for a new account.
 * Throws a ZodError, which quotes nothing of the record, if it is invalid.
 */
export const readBalanceChange = (record: unknown): BalanceChange | undefined => {
  const { eventName, dynamodb } = recordSchema.parse(record);
  if (eventName !== 'MODIFY' || dynamodb.Keys.sk !== 'ACCOUNT') return undefined;
  const { OldImage, NewImage } = changeSchema.parse(record).dynamodb;
  return {
    accountId: NewImage.pk.slice(PARTITION.length),
    chatId: NewImage.chat,
    version: NewImage.version,
    beforePicos: OldImage,
    afterPicos: NewImage.afterPicos,
    thresholdPicos: NewImage.threshold,
  };
};
