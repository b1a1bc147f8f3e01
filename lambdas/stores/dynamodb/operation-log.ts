import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Operation, OperationLog } from '../../core/ledger/records.ts';
import { type Item, number, readNumber, readText, text } from './attributes.ts';
import { send } from './failures.ts';
import { query, withPrefix } from './query.ts';

const PREFIX = 'OPERATION#';

/** One item per operation, beside the account that it was done to. */
export const createOperationLog = (client: DynamoDBClient, table: string): OperationLog => ({
  add: async (operation) => {
    await send(() => client.send(new PutItemCommand({ TableName: table, Item: toItem(operation) })));
  },
  list: async (accountId) => {
    const items = await query(client, withPrefix(table, accountId, PREFIX));
    return items.map(toOperation);
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
