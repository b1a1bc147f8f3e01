import * as z from 'zod';
import type { ChargeRecord } from '../../core/ledger/ledger.ts';
import type { WrittenCharge } from '../../core/ledger/records.ts';
import { toItem } from './attribute-values.ts';
import { toChargeRecord } from './ledger-items.ts';

const textAttribute = z.object({ S: z.string() }).transform(({ S }) => S);

const recordSchema = z.object({
  eventName: z.string(),
  dynamodb: z.object({
    Keys: z.object({ pk: textAttribute, sk: textAttribute }),
    NewImage: z.record(z.string(), z.unknown()).optional(),
  }),
});

const PARTITION = 'account#';
const SORT = 'CHARGE#';

/**
 * Reads a record of the accounts table's stream. Returns undefined unless it reports a new charge record. Throws a
 * ZodError, which quotes nothing of the record, if it does not name its item.
 */
export const readNewCharge = (record: unknown): WrittenCharge | undefined => {
  const { eventName, dynamodb } = recordSchema.parse(record);
  const { pk, sk } = dynamodb.Keys;
  if (eventName !== 'INSERT' || !pk.startsWith(PARTITION) || !sk.startsWith(SORT)) return undefined;
  return {
    accountId: pk.slice(PARTITION.length),
    holdId: sk.slice(SORT.length),
    record: dynamodb.NewImage && orUnreadable(dynamodb.NewImage),
  };
};

/** The attributes of an image have the format of the DynamoDB client, apart from types that these items do not use. */
const orUnreadable = (image: object): ChargeRecord | undefined => {
  try {
    return toChargeRecord(toItem(image as Parameters<typeof toItem>[0]));
  } catch {
    return undefined;
  }
};
