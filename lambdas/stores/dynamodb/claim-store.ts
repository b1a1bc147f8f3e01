import { DeleteItemCommand, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { ClaimRef, ClaimStore } from '../../core/idempotency/claim-store.ts';
import { number, text } from './attributes.ts';
import { claimKey, toClaim, toPreparedItem } from './claim-item.ts';
import { claim, takeOver } from './claim-opening.ts';
import { atWork, atWorkOf, changeClaim, claimNames, expiryOf, isAtWork } from './claim-update.ts';
import { send } from './failures.ts';

/** Claims on one table. The client may repeat a call. */
export const createClaimStore = (client: DynamoDBClient, table: string): ClaimStore => ({
  claim: (request) => claim(client, table, request),
  renew: async (ref, owner, leaseUntilMs) => {
    // An earlier renewal that lands late must not shorten the lease; its caller is the owner all the same.
    const reply = await changeClaim(client, table, {
      ref,
      set: 'leaseUntilMs = :lease',
      condition: `${atWork} AND leaseUntilMs <= :lease`,
      values: { ...atWorkOf(owner), ':lease': number(leaseUntilMs) },
    });
    return 'changed' in reply || (reply.refused !== undefined && isAtWork(reply.refused, owner));
  },
  prepare: async (ref, owner, prepared, expiresAtMs) => {
    const reply = await changeClaim(client, table, {
      ref,
      set: '#state = :prepared, prepared = :answer, expiresAtMs = :expires, expiresAt = :cleaned',
      condition: atWork,
      values: { ...atWorkOf(owner), ':answer': { M: toPreparedItem(prepared) }, ...expiryOf(expiresAtMs) },
    });
    return 'changed' in reply;
  },
  complete: async (ref, owner) => {
    const reply = await changeClaim(client, table, {
      ref,
      set: '#state = :done',
      condition: '#owner = :owner AND #state IN (:prepared, :done)',
      values: { ':owner': text(owner), ':prepared': text('prepared'), ':done': text('done') },
    });
    return 'changed' in reply;
  },
  free: (ref, owner, dispatches) => free(client, table, ref, owner, dispatches),
  takeOver: (request) => takeOver(client, table, request),
  read: async (ref) => {
    const reply = await send(() =>
      client.send(new GetItemCommand({ TableName: table, Key: claimKey(ref), ConsistentRead: true })),
    );
    return 'ok' in reply && reply.ok.Item ? toClaim(reply.ok.Item) : undefined;
  },
});

const free = async (
  client: DynamoDBClient,
  table: string,
  ref: ClaimRef,
  owner: string,
  dispatches: number,
): Promise<boolean> => {
  if (dispatches > 0) {
    const reply = await changeClaim(client, table, {
      ref,
      set: '#state = :free, dispatches = :dispatches',
      remove: 'prepared',
      condition: atWork,
      values: { ...atWorkOf(owner), ':free': text('free'), ':dispatches': number(dispatches) },
    });
    return 'changed' in reply;
  }
  const reply = await send(() =>
    client.send(
      new DeleteItemCommand({
        TableName: table,
        Key: claimKey(ref),
        ConditionExpression: atWork,
        ExpressionAttributeNames: claimNames,
        ExpressionAttributeValues: atWorkOf(owner),
      }),
    ),
  );
  return 'ok' in reply;
};
