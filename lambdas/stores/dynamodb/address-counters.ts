import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AddressCounters } from '../../core/limits/rate-limit.ts';
import { number, text } from './attributes.ts';
import { takeFromBucket } from './bucket-update.ts';

const KEPT_SECONDS = 300;

/** The client is one that does not repeat a call: a late verdict is worth nothing. */
export const createAddressCounters = (client: DynamoDBClient, table: string): AddressCounters => ({
  take: async (address, bucket, nowMicros) => {
    const reply = await takeFromBucket(client, {
      table,
      key: { pk: text(`ip#${address}`) },
      bucket,
      nowMicros,
      createsItem: true,
      set: 'expiresAt = :expiresAt',
      values: { ':expiresAt': number(Math.ceil(nowMicros / 1_000_000) + KEPT_SECONDS) },
    });
    return 'taken' in reply;
  },
});
