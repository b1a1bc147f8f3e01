import { type AttributeValue, type DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { capProblems } from '../../lambdas/core/ledger/audit-caps.ts';
import { creditProblems } from '../../lambdas/core/ledger/audit-credits.ts';
import { changeOf } from '../../lambdas/core/ledger/credit-record.ts';
import type { ChargeRecord, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { type Account, balanceOf } from '../../lambdas/core/ledger/ledger.ts';
import { toItem } from '../../lambdas/stores/dynamodb/attribute-values.ts';
import { toCreditRecord } from '../../lambdas/stores/dynamodb/credit-items.ts';
import { toChargeRecord } from '../../lambdas/stores/dynamodb/ledger-items.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { expectBalanced } from './ledger-subjects.ts';

export interface Audit {
  readonly account: Account;
  readonly records: readonly ChargeRecord[];
}

interface AuditedLedger {
  readonly direct: LedgerStore;
  readonly client: DynamoDBClient;
  readonly table?: string;
}

/** Checks that an account without open holds has the sums of its records. */
export const auditAccount = async (
  { direct, client, table = localTableNames.accounts }: AuditedLedger,
  accountId: string,
): Promise<Audit> => {
  const account = await direct.readAccount(accountId);
  if (!account) throw new Error(`no ${accountId}`);
  const items = await itemsOf(client, table, accountId);
  const withPrefix = (prefix: string) => items.filter(({ sk }) => sk?.S?.startsWith(prefix));
  const records = withPrefix('CHARGE#').map((item) => toChargeRecord(toItem(item)));
  const credits = withPrefix('CREDIT#').map((item) => toCreditRecord(toItem(item)));
  expectBalanced(account);
  expect([...account.holds.keys()], 'open holds').toEqual([]);
  expect(account.availablePicos, 'available').toBe(balanceOf(account));
  expect(account.spentPicos, 'spent = what the records charge').toBe(sum(records.map((one) => one.amountPicos)));
  expect(account.creditedPicos, 'credited = credits - returns').toBe(sum(credits.map(changeOf)));
  expect(creditProblems(credits), 'returns').toEqual([]);
  expect(capProblems(account, records), 'caps').toEqual([]);
  for (const [requestId, own] of Map.groupBy(records, (one) => one.requestId)) {
    const settled = own.filter(({ outcome }) => outcome === 'settled');
    expect(settled.length, `charges of ${requestId}`).toBeLessThanOrEqual(1);
    for (const { outcome, amountPicos } of own) if (outcome === 'released') expect(amountPicos).toBe(0n);
  }
  return { account, records };
};

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

const itemsOf = async (
  client: DynamoDBClient,
  table: string,
  accountId: string,
): Promise<Record<string, AttributeValue>[]> => {
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: `account#${accountId}` } },
      ConsistentRead: true,
    }),
  );
  if (LastEvaluatedKey) throw new Error(`${accountId} has more items than a page`);
  return Items;
};
