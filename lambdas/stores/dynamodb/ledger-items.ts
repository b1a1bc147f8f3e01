import type { Account, AccountStatus, ChargeRecord, Hold } from '../../core/ledger/ledger.ts';
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

export const chargeKey = (accountId: string, holdId: string): Item => ({
  pk: text(`account#${accountId}`),
  sk: text(`CHARGE#${holdId}`),
});

const numbers = (values: Readonly<Record<string, number | bigint>>): Item =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, number(value)]));

export const toChargeItem = (record: ChargeRecord): Item => ({
  ...chargeKey(record.accountId, record.holdId),
  accountId: text(record.accountId),
  holdId: text(record.holdId),
  requestId: text(record.requestId),
  outcome: text(record.outcome),
  amount: number(record.amountPicos),
  at: number(record.at),
  ...(record.reason === undefined ? {} : { reason: text(record.reason) }),
  ...(record.model === undefined ? {} : { model: text(record.model) }),
  ...(record.usage === undefined ? {} : { usage: { M: numbers(record.usage) } }),
  ...(record.prices === undefined ? {} : { prices: { M: numbers(record.prices) } }),
  ...(record.overage ? { overage: { BOOL: true } } : {}),
  ...(record.implausible ? { implausible: { BOOL: true } } : {}),
  ...(record.answer === undefined ? {} : { answer: text(record.answer) }),
  ...(record.endUser === undefined ? {} : { endUser: text(record.endUser) }),
  ...(record.ignored === undefined ? {} : { ignored: { L: record.ignored.map(text) } }),
});

export const toChargeRecord = (item: Item): ChargeRecord => {
  const outcome = readText(item, 'outcome');
  if (outcome !== 'settled' && outcome !== 'released')
    throw new Error(`a charge record has the unknown outcome "${outcome}"`);
  return {
    accountId: readText(item, 'accountId'),
    holdId: readText(item, 'holdId'),
    requestId: readText(item, 'requestId'),
    outcome,
    amountPicos: readBigint(item, 'amount'),
    at: readNumber(item, 'at'),
    ...(item.reason?.S === undefined ? {} : { reason: item.reason.S }),
    ...(item.model?.S === undefined ? {} : { model: item.model.S }),
    ...(item.usage?.M === undefined ? {} : { usage: mapValues(item.usage.M, Number) }),
    ...(item.prices?.M === undefined ? {} : { prices: mapValues(item.prices.M, BigInt) }),
    ...(item.overage?.BOOL ? { overage: true } : {}),
    ...(item.implausible?.BOOL ? { implausible: true } : {}),
    ...(item.answer?.S === undefined ? {} : { answer: item.answer.S }),
    ...(item.endUser?.S === undefined ? {} : { endUser: item.endUser.S }),
    ...(item.ignored?.L === undefined ? {} : { ignored: item.ignored.L.flatMap(({ S }) => S ?? []) }),
  };
};

const mapValues = <T>(item: Item, parse: (text: string) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, parse(value.N ?? '0')]));
