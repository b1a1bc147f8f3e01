import { type DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Operation, OperationLog } from '../../core/ledger/operation-log.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';
import { send, toStoreError } from './failures.ts';

const PREFIX = 'OPERATION#';

/** One item per operation, beside the account that it was done to. */
export const createOperationLog = (client: DynamoDBClient, table: string): OperationLog => ({
  add: async (operation) => {
    await send(() => client.send(new PutItemCommand({ TableName: table, Item: toItem(operation) })));
  },
  list: async (accountId) => {
    const found: Operation[] = [];
    let from: Item | undefined;
    do {
      const command = new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': text(`account#${accountId}`), ':prefix': text(PREFIX) },
        ConsistentRead: true,
        ...(from ? { ExclusiveStartKey: from } : {}),
      });
      const page = await client.send(command).catch((error: unknown) => {
        throw toStoreError(error);
      });
      found.push(...(page.Items ?? []).map(toOperation));
      from = page.LastEvaluatedKey;
    } while (from);
    return found;
  },
});

const toItem = ({ accountId, id, command, reason, ref, at }: Operation): Item => ({
  pk: text(`account#${accountId}`),
  sk: text(`${PREFIX}${id}`),
  accountId: text(accountId),
  command: text(command),
  reason: text(reason),
  ...(ref === undefined ? {} : { ref: text(ref) }),
  at: number(at),
});

const toOperation = (item: Item): Operation => ({
  accountId: readText(item, 'accountId'),
  id: readText(item, 'sk').slice(PREFIX.length),
  command: readText(item, 'command'),
  reason: readText(item, 'reason'),
  ...(item.ref === undefined ? {} : { ref: readText(item, 'ref') }),
  at: readNumber(item, 'at'),
});
