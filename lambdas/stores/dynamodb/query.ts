import { type DynamoDBClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { type Item, text } from './attributes.ts';
import { toStoreError } from './failures.ts';

/** An answer has a megabyte at most, so a query may take several; `enough` items end it. Throws StoreError. */
export const query = async (
  client: DynamoDBClient,
  request: QueryCommandInput,
  enough = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let from = request.ExclusiveStartKey;
  do {
    const command = new QueryCommand({ ...request, ExclusiveStartKey: from });
    const page = await client.send(command).catch((error: unknown) => {
      throw toStoreError(error);
    });
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from && items.length < enough);
  return items;
};

/** Everything of an account whose sort key begins like this. */
export const withPrefix = (table: string, accountId: string, prefix: string): QueryCommandInput => ({
  TableName: table,
  KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
  ExpressionAttributeValues: { ':pk': text(`account#${accountId}`), ':prefix': text(prefix) },
  ConsistentRead: true,
});
