import { DeleteItemCommand, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { type TurnKey, UPDATE_LEASE_MS, type UpdateLog } from '../../core/accounts/chats.ts';
import { type Item, number, text } from './attributes.ts';
import { send } from './failures.ts';

/** The messenger gives up on an update after a day; its own numbers do not come again within a week. */
const KEPT_SECONDS = 7 * 86_400;

const keyOf = (key: TurnKey): Item => ({ pk: text(key) });

const expiresAt = (nowMs: number): number => Math.floor(nowMs / 1_000) + KEPT_SECONDS;

/** One item per update and per chat that is being started, in the table of counters, which forgets it by itself. */
export const createUpdateLog = (client: DynamoDBClient, table: string): UpdateLog => ({
  claim: async (key, nowMs) => {
    const command = new UpdateItemCommand({
      TableName: table,
      Key: keyOf(key),
      UpdateExpression: 'SET leaseUntil = :until, expiresAt = :expiresAt',
      ConditionExpression: 'attribute_not_exists(pk) OR leaseUntil < :now',
      ExpressionAttributeValues: {
        ':until': number(nowMs + UPDATE_LEASE_MS),
        ':expiresAt': number(expiresAt(nowMs)),
        ':now': number(nowMs),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const reply = await send(() => client.send(command));
    if ('ok' in reply) return 'claimed';
    return reply.conditionFailed?.done?.BOOL ? 'done' : 'busy';
  },
  finish: async (key, nowMs) => {
    const command = new UpdateItemCommand({
      TableName: table,
      Key: keyOf(key),
      // Without a lease it can never be claimed again.
      UpdateExpression: 'SET done = :done, expiresAt = :expiresAt REMOVE leaseUntil',
      ExpressionAttributeValues: { ':done': { BOOL: true }, ':expiresAt': number(expiresAt(nowMs)) },
    });
    await send(() => client.send(command));
  },
  free: async (key) => {
    const command = new DeleteItemCommand({
      TableName: table,
      Key: keyOf(key),
      // Whoever comes too late may not undo that another has dealt with it.
      ConditionExpression: 'attribute_not_exists(done)',
    });
    await send(() => client.send(command));
  },
});
