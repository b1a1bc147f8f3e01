import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { Claim, ClaimRef } from '../../core/idempotency/claim-store.ts';
import { type Item, number, text } from './attributes.ts';
import { claimKey, cleanedUpAt, toClaim } from './claim-item.ts';
import { send } from './failures.ts';

/** DynamoDB reserves both words. */
export const claimNames = { '#owner': 'owner', '#state': 'state' };

/** Of this owner, and neither finished nor freed. */
export const atWork = '#owner = :owner AND #state IN (:open, :prepared)';
export const atWorkOf = (owner: string): Item => ({
  ':owner': text(owner),
  ':open': text('open'),
  ':prepared': text('prepared'),
});
export const isAtWork = (claim: Claim, owner: string): boolean =>
  claim.owner === owner && (claim.state === 'open' || claim.state === 'prepared');

export const expiryOf = (expiresAtMs: number): Item => ({
  ':expires': number(expiresAtMs),
  ':cleaned': cleanedUpAt(expiresAtMs),
});

interface Change {
  readonly ref: ClaimRef;
  readonly set: string;
  readonly remove?: string;
  readonly condition: string;
  readonly values: Item;
  /** What was set comes back. It costs nothing to ask, but an answer may be among it. */
  readonly returns?: 'UPDATED_NEW';
}

export type Changed = { readonly changed: Item } | { readonly refused: Claim | undefined };

/** One conditional update. */
export const changeClaim = async (
  client: DynamoDBClient,
  table: string,
  { ref, set, remove, condition, values, returns }: Change,
): Promise<Changed> => {
  const reply = await send(() =>
    client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: claimKey(ref),
        UpdateExpression: `SET ${set}${remove === undefined ? '' : ` REMOVE ${remove}`}`,
        ConditionExpression: condition,
        ExpressionAttributeNames: claimNames,
        ExpressionAttributeValues: values,
        ReturnValues: returns ?? 'NONE',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if ('ok' in reply) return { changed: reply.ok.Attributes ?? {} };
  return { refused: reply.conditionFailed && toClaim(reply.conditionFailed) };
};
