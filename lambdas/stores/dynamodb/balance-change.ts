import * as z from 'zod';
import { type BalanceChange, THRESHOLD_STANDARD } from '../../core/accounts/low-balance.ts';

const text = z.object({ S: z.string() }).transform(({ S }) => S);
const integer = z.object({ N: z.string().regex(/^-?\d{1,38}$/) }).transform(({ N }) => BigInt(N));

const recordSchema = z.object({ eventName: z.string(), dynamodb: z.object({ Keys: z.object({ sk: text }) }) });

const balanceSchema = z
  .object({ credited: integer, spent: integer })
  .transform(({ credited, spent }) => credited - spent);

const PARTITION = 'account#';

const changeSchema = z.object({
  dynamodb: z.object({
    OldImage: balanceSchema,
    NewImage: z.intersection(
      balanceSchema.transform((afterPicos) => ({ afterPicos })),
      z.object({
        pk: text.refine((pk) => pk.startsWith(PARTITION)),
        version: integer.transform(Number),
        chat: text.optional(),
        threshold: integer.default(THRESHOLD_STANDARD),
      }),
    ),
  }),
});

/**
 * What a record of the accounts table's stream tells of a balance: undefined for other items than accounts, and for an account that
 * begins. Throws a ZodError, whose words hold nothing of the record, when it cannot be read.
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
