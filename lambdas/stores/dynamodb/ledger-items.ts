import type { UncollectedOfDay } from '../../core/ledger/allowance.ts';
import { type Account, type ChargeRecord, toAccountStatus, toOutcome } from '../../core/ledger/ledger.ts';
import { monthOf } from '../../core/ledger/month.ts';
import { holdCapValue, toCaps, toHoldCap } from './cap-items.ts';
import { toHolds } from './hold-entries.ts';
import { type Item, optionalText, readBigint, readFraction, readMap, readNumber, readText, readTexts } from './item.ts';

const SHARDS = 4;
export const shards = Array.from({ length: SHARDS }, (_, index) => `shard-${index}`);

const shardOf = (accountId: string): string => {
  let sum = 0;
  for (const character of accountId) sum += character.codePointAt(0) ?? 0;
  return shards[sum % SHARDS] ?? 'shard-0';
};

const PARTITION = 'account#';

export const accountKey = (accountId: string): Item => ({ pk: `${PARTITION}${accountId}`, sk: 'ACCOUNT' });

export const accountIdOf = (item: Item): string => readText(item, 'pk').slice(PARTITION.length);

export const newAccountItem = (accountId: string, nowMs: number): Item => ({
  ...accountKey(accountId),
  status: 'active',
  available: 0,
  credited: 0,
  spent: 0,
  month: monthOf(nowMs),
  version: 0,
  holds: {},
  shard: shardOf(accountId),
});

export const toAccount = (item: Item): Account => ({
  id: accountIdOf(item),
  status: toAccountStatus(readText(item, 'status')),
  availablePicos: readBigint(item, 'available'),
  creditedPicos: readBigint(item, 'credited'),
  returnedPicos: item.returned === undefined ? 0n : readBigint(item, 'returned'),
  spentPicos: readBigint(item, 'spent'),
  ...textsOf(item, ['month']),
  version: readNumber(item, 'version'),
  holds: toHolds(readMap(item, 'holds')),
  ...(item.uncollectedDay === undefined ? {} : { uncollected: toUncollected(item) }),
  ...(item.probationUntil === undefined ? {} : { probationUntilPicos: readBigint(item, 'probationUntil') }),
  caps: toCaps(item),
  ...textsOf(item, ['countedToId']),
});

const toUncollected = (item: Item): UncollectedOfDay => ({
  day: readText(item, 'uncollectedDay'),
  picos: readBigint(item, 'uncollected'),
  ...(item.uncollectedSilent ? { silentDeadlines: readNumber(item, 'uncollectedSilent') } : {}),
  ...(item.uncollectedSilentAt === undefined ? {} : { silentAtMs: readNumber(item, 'uncollectedSilentAt') }),
  ...(item.uncollectedFree === undefined ? {} : { freePicos: readBigint(item, 'uncollectedFree') }),
  ...(item.uncollectedOtherDay === undefined
    ? {}
    : { other: { day: readText(item, 'uncollectedOtherDay'), picos: readBigint(item, 'uncollectedOther') } }),
});

export const chargeKey = (accountId: string, holdId: string): Item => ({
  pk: `account#${accountId}`,
  sk: `CHARGE#${holdId}`,
});

export const LATE_PREFIX = 'LATE_CHARGE#';

/** Key of a charge that usage sums do not include yet, although they may have passed its id (BILL-23). */
export const lateKey = (accountId: string, holdId: string): Item => ({
  pk: `account#${accountId}`,
  sk: `${LATE_PREFIX}${holdId}`,
});

/** Optional fields that an item stores under their own names. */
const sameFields = [
  'reason',
  'model',
  'usage',
  'prices',
  'answer',
  'endUser',
  'ignored',
  'keyId',
  'endpoint',
  'provider',
  'firstByteMs',
  'totalMs',
] as const satisfies readonly (keyof ChargeRecord)[];

/** Returns the named fields that are not undefined. */
const definedOf = (record: ChargeRecord, names: readonly (typeof sameFields)[number][]): Item =>
  Object.fromEntries(names.flatMap((name) => (record[name] === undefined ? [] : [[name, record[name]]])));

export const toChargeItem = (record: ChargeRecord): Item => ({
  ...chargeKey(record.accountId, record.holdId),
  accountId: record.accountId,
  holdId: record.holdId,
  requestId: record.requestId,
  outcome: record.outcome,
  amount: record.amountPicos,
  at: record.at,
  ...definedOf(record, sameFields),
  ...(record.overage ? { overage: true } : {}),
  ...(record.implausible ? { implausible: true } : {}),
  ...(record.cutAtStop ? { cutAtStop: true } : {}),
  ...(record.costPicos === undefined ? {} : { cost: record.costPicos }),
  ...(record.uncollectedPicos === undefined ? {} : { uncollected: record.uncollectedPicos }),
  ...(record.usesAllowance ? { usesAllowance: true } : {}),
  ...(record.silentDeadline ? { silentDeadline: true } : {}),
  ...(record.allowancePicos === undefined ? {} : { allowance: record.allowancePicos }),
  ...(record.cap && { cap: holdCapValue(record.cap) }),
});

export const toChargeRecord = (item: Item): ChargeRecord => ({
  accountId: readText(item, 'accountId'),
  holdId: readText(item, 'holdId'),
  requestId: readText(item, 'requestId'),
  ...toOutcome(readText(item, 'outcome')),
  amountPicos: readBigint(item, 'amount'),
  at: readNumber(item, 'at'),
  ...textsOf(item, ['reason', 'model']),
  ...(item.usage === undefined ? {} : { usage: mapValues(readMap(item, 'usage'), readFraction) }),
  ...(item.prices === undefined ? {} : { prices: mapValues(readMap(item, 'prices'), readBigint) }),
  ...(item.overage === true ? { overage: true } : {}),
  ...(item.implausible === true ? { implausible: true } : {}),
  ...(item.cutAtStop === true ? { cutAtStop: true } : {}),
  ...textsOf(item, ['answer', 'endUser', 'keyId', 'endpoint', 'provider']),
  ...(item.ignored === undefined ? {} : { ignored: readTexts(item, 'ignored') }),
  ...(item.cost === undefined ? {} : { costPicos: readBigint(item, 'cost') }),
  ...(item.uncollected === undefined ? {} : { uncollectedPicos: readBigint(item, 'uncollected') }),
  ...(item.usesAllowance === true ? { usesAllowance: true } : {}),
  ...(item.silentDeadline === true ? { silentDeadline: true } : {}),
  ...(item.allowance === undefined ? {} : { allowancePicos: readBigint(item, 'allowance') }),
  ...(item.firstByteMs === undefined ? {} : { firstByteMs: readNumber(item, 'firstByteMs') }),
  ...(item.totalMs === undefined ? {} : { totalMs: readNumber(item, 'totalMs') }),
  ...capOf(item),
});

const capOf = (item: Item): Pick<ChargeRecord, 'cap'> => {
  const cap = toHoldCap(item.cap);
  return cap ? { cap } : {};
};

/** Returns the named attributes that the item has as strings. */
const textsOf = <Name extends string>(item: Item, names: readonly Name[]): { [name in Name]?: string } => {
  const found: { [name in Name]?: string } = {};
  for (const name of names) {
    const value = optionalText(item, name);
    if (value !== undefined) found[name] = value;
  }
  return found;
};

const mapValues = <T>(item: Item, read: (item: Item, name: string) => T): Record<string, T> =>
  Object.fromEntries(Object.keys(item).map((name) => [name, read(item, name)]));
