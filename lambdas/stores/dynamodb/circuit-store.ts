import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CircuitReading, CircuitStore } from '../../core/circuit/circuit-store.ts';
import { number, readNumber } from './attributes.ts';
import { createCircuitCalls } from './circuit-calls.ts';
import { bucketId, quarantineId, seconds, stateId, toBucket, toState } from './circuit-items.ts';
import { createMissingCounts } from './circuit-missing-counts.ts';
import { createCircuitStates } from './circuit-states.ts';

/** The client is one that does not repeat a call: a count would be added twice, and a late answer is worth nothing. */
export const createCircuitStore = (client: DynamoDBClient, table: string): CircuitStore => {
  const calls = createCircuitCalls(client, table);
  return {
    ...createCircuitStates(calls),
    ...createMissingCounts(calls),
    read: async (key, bucketStartsMs, nowMs): Promise<CircuitReading> => {
      const [state, quarantine] = [stateId(key), quarantineId(key.modelId)];
      const buckets = bucketStartsMs.map((startMs) => ({ startMs, id: bucketId(key, startMs) }));
      const { items, unread } = await calls.read([state, quarantine, ...buckets.map(({ id }) => id)]);
      const shut = items.get(quarantine);
      return {
        state: unread.has(state) ? { known: false } : { known: true, value: toState(items.get(state), nowMs) },
        buckets: buckets.filter(({ id }) => !unread.has(id)).map(({ id, startMs }) => toBucket(items.get(id), startMs)),
        quarantinedUntilMs: unread.has(quarantine)
          ? { known: false }
          : { known: true, value: shut ? readNumber(shut, 'shutUntil') : 0 },
      };
    },
    count: async (key, { startMs, failures, successes, accounts }, expiresAtMs) => {
      const named = accounts.length > 0;
      await calls.update(bucketId(key, startMs), {
        UpdateExpression: `SET expiresAt = :expiresAt ADD failedCalls :failures, goodCalls :successes${named ? ', failedAccounts :accounts' : ''}`,
        ExpressionAttributeValues: {
          ':expiresAt': number(seconds(expiresAtMs)),
          ':failures': number(failures),
          ':successes': number(successes),
          ...(named ? { ':accounts': { SS: [...accounts] } } : {}),
        },
      });
    },
  };
};
