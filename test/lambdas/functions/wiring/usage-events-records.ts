import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { type Item, isList, isMap, type Value } from '../../../../lambdas/stores/dynamodb/item.ts';
import { chargeKey, toChargeItem } from '../../../../lambdas/stores/dynamodb/ledger-items.ts';

/** Returns the id of a test's request. */
export const requestOf = (number: number): string => `01KXAMP1E0${String(number).padStart(16, '0')}`;

export const chargeOf = (number: number, changed: Partial<ChargeRecord> = {}): ChargeRecord => ({
  accountId: 'acme',
  holdId: `${requestOf(number)}.0`,
  requestId: requestOf(number),
  outcome: 'settled',
  amountPicos: BigInt(number),
  at: Date.UTC(2026, 10, 20),
  model: 'gpt-5.4',
  usage: { input: 0.5, output: 4 },
  prices: { input: 1n, output: 2n },
  ...changed,
});

const toImage = (item: Item): Record<string, AttributeValue> =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toAttribute(value)]));

const toAttribute = (value: Value): AttributeValue => {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (isList(value)) return { L: value.map(toAttribute) };
  return isMap(value) ? { M: toImage(value) } : { N: String(value) };
};

/** Record of the stream for a new charge record, in Lambda's format. */
export const insertOf = (sequenceNumber: number, charge: ChargeRecord): DynamoDBRecord => {
  const item = toImage(toChargeItem(charge));
  return {
    eventID: String(sequenceNumber),
    eventName: 'INSERT',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      Keys: toImage(chargeKey(charge.accountId, charge.holdId)),
      NewImage: item,
      SequenceNumber: String(sequenceNumber),
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    },
  };
};
