import type { CircuitStore } from '../../core/circuit/circuit-store.ts';
import { number, readNumber } from './attributes.ts';
import type { CircuitCalls } from './circuit-calls.ts';
import { missingId, quarantineId, seconds } from './circuit-items.ts';

/** BILL-10: good answers without usage, counted by the minute, and the quarantine that follows. */
export const createMissingCounts = ({
  read,
  update,
  holds,
}: CircuitCalls): Pick<CircuitStore, 'countMissing' | 'readMissing' | 'quarantine'> => ({
  countMissing: async (modelId, bucketStartMs, expiresAtMs) => {
    const reply = await update(missingId(modelId, bucketStartMs), {
      UpdateExpression: 'SET expiresAt = :expiresAt ADD withoutUsage :one',
      ExpressionAttributeValues: { ':expiresAt': number(seconds(expiresAtMs)), ':one': number(1) },
      ReturnValues: 'ALL_NEW',
    });
    return 'ok' in reply ? readNumber(reply.ok.Attributes ?? {}, 'withoutUsage') : 0;
  },
  readMissing: async (modelId, bucketStartsMs) => {
    const { items } = await read(bucketStartsMs.map((startMs) => missingId(modelId, startMs)));
    return [...items.values()].reduce((total, item) => total + readNumber(item, 'withoutUsage'), 0);
  },
  quarantine: (modelId, untilMs, nowMs) =>
    holds(quarantineId(modelId), {
      UpdateExpression: 'SET shutUntil = :until, expiresAt = :expiresAt',
      ConditionExpression: 'attribute_not_exists(pk) OR shutUntil <= :now',
      ExpressionAttributeValues: {
        ':until': number(untilMs),
        ':expiresAt': number(seconds(untilMs)),
        ':now': number(nowMs),
      },
    }),
});
