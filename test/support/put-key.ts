import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KeyLabel } from '../../lambdas/core/accounts/keys.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { toKeyItem } from '../../lambdas/stores/dynamodb/key-item.ts';

interface LooseKey {
  readonly hash: string;
  readonly accountId: string;
  readonly label: KeyLabel;
  readonly pepperId: string;
}

/** Adds another API key to an account, which the gateway itself never does. */
export const putKey = async (client: DynamoDBClient, table: string, key: LooseKey): Promise<void> => {
  const item = toKeyItem(key.accountId, { ...key, isShown: true });
  await createDynamoDB(client, Date.now).put({ table, item });
};
