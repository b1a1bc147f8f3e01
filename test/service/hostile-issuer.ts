import { createHash, randomBytes } from 'node:crypto';
import { type AttributeValue, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { hashApiKey, labelOf, makeApiKey } from '../../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { readPepper } from '../support/hostile-account.ts';
import { putKey } from '../support/put-key.ts';

export type Issuer = ReturnType<typeof openIssuer>;

/** Writes accounts and their keys directly into the tables of the program with this data folder. */
export const openIssuer = (endpoint: string, folder: string) => {
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  const ledger = createLedgerStore(createDatabases({ once: client, repeating: client }), localTableNames.accounts);
  const hashOf = (apiKey: string): string => hashApiKey(readPepper(folder), apiKey);

  const issue = async (balanceUsd: string): Promise<string> => {
    const apiKey = makeApiKey(randomBytes(32));
    const hash = hashOf(apiKey);
    const accountId = `account-${hash.slice(0, 8)}`;
    await ledger.createAccount(accountId, Date.now());
    const amountPicos = parseUsd(balanceUsd);
    if (amountPicos > 0n) await ledger.credit({ accountId, ref: 'first', amountPicos, reason: 'test', at: Date.now() });
    const pepperId = createHash('sha256').update(readPepper(folder)).digest('hex').slice(0, 8);
    await putKey(client, localTableNames.keys, { hash, accountId, label: labelOf(apiKey), pepperId });
    return apiKey;
  };

  const change = async (apiKey: string, name: string, value: AttributeValue): Promise<void> => {
    await client.send(
      new UpdateItemCommand({
        ...{ TableName: localTableNames.keys, Key: { pk: { S: hashOf(apiKey) } } },
        ...{ UpdateExpression: 'SET #name = :value', ExpressionAttributeNames: { '#name': name } },
        ExpressionAttributeValues: { ':value': value },
      }),
    );
  };

  return {
    issue,
    revoke: (apiKey: string) => change(apiKey, 'status', { S: 'revoked' }),
    block: (apiKey: string) => change(apiKey, 'blocked', { BOOL: true }),
    close: () => client.destroy(),
  };
};
