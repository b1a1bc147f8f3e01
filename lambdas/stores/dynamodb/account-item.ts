import type { Account, AccountStatus, Hold } from '../../core/ledger/ledger.ts';
import { type Item, number, readBigint, readMap, readNumber, readText, text } from './attributes.ts';

const SHARDS = 4;
export const shards = Array.from({ length: SHARDS }, (_, index) => `shard-${index}`);

const shardOf = (accountId: string): string => {
  let sum = 0;
  for (const character of accountId) sum += character.codePointAt(0) ?? 0;
  return shards[sum % SHARDS] ?? 'shard-0';
};

const PARTITION = 'account#';

export const accountKey = (accountId: string): Item => ({ pk: text(`${PARTITION}${accountId}`), sk: text('ACCOUNT') });

export const accountIdOf = (item: Item): string => readText(item, 'pk').slice(PARTITION.length);

export const newAccountItem = (accountId: string): Item => ({
  ...accountKey(accountId),
  status: text('active'),
  available: number(0),
  credited: number(0),
  spent: number(0),
  version: number(0),
  holds: { M: {} },
  shard: text(shardOf(accountId)),
});

export const toAccount = (item: Item): Account => ({
  id: accountIdOf(item),
  status: toStatus(readText(item, 'status')),
  availablePicos: readBigint(item, 'available'),
  creditedPicos: readBigint(item, 'credited'),
  spentPicos: readBigint(item, 'spent'),
  version: readNumber(item, 'version'),
  holds: new Map(Object.entries(readMap(item, 'holds')).map(([id, value]) => [id, toHold(value.M ?? {})])),
});

const toHold = (item: Item): Hold => ({
  amountPicos: readBigint(item, 'amount'),
  expiresAtMs: readNumber(item, 'expiresAt'),
});

const toStatus = (value: string): AccountStatus => {
  if (value === 'active' || value === 'blocked') return value;
  throw new Error(`a stored account has the unknown status "${value}"`);
};
