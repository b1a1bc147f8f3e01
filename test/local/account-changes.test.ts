import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, expect, test as plainTest } from 'vitest';
import { createClients, createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { type AccountChanges, type FollowOptions, followChanges } from '../../local/account-changes.ts';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { hasDynamodb, startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { until } from '../support/gateway-process.ts';

const test = plainTest.skipIf(!hasDynamodb);

let database: TestDynamodb;
let clients: ReturnType<typeof createClients>;
const folder = mkdtempSync(join(tmpdir(), 'gateway-changes-'));
beforeAll(async () => {
  if (!hasDynamodb) return;
  database = await startTestDynamodb();
  clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
});
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.destroy();
  await database?.stop();
});

const following: AccountChanges[] = [];
afterEach(async () => {
  for (const changes of following.splice(0)) await changes.stop();
});

let accounts = 0;
/** Creates an account that no other test writes to. `credit` writes to it, `own` recognizes its records. */
const newAccount = async () => {
  accounts += 1;
  const accountId = `account-${accounts}`;
  const store = createLedgerStore(createDatabases(clients), localTableNames.accounts);
  await store.createAccount(accountId, 0);
  const credit = async (...refs: readonly string[]): Promise<void> => {
    for (const ref of refs) await store.credit({ accountId, ref, amountPicos: 10n ** 30n, reason: 'test', at: 1 });
  };
  // The copy of a credit for its statement is left out.
  const own = ({ dynamodb }: DynamoDBRecord): boolean =>
    dynamodb?.Keys?.pk?.S === `account#${accountId}` && !dynamodb.Keys.sk?.S?.startsWith('STATEMENT');
  return { accountId, credit, own };
};

const follow = async (changed: Partial<FollowOptions> = {}) => {
  const failures: string[] = [];
  const changes = await followChanges({
    endpoint: database.endpoint,
    table: localTableNames.accounts,
    onFailure: (message) => failures.push(message),
    pollMs: 10,
    retryDelaysMs: [1, 2, 4],
    ...changed,
  });
  following.push(changes);
  return { changes, failures };
};

const sortOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.Keys?.sk?.S ?? '';
const numberOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.SequenceNumber ?? '';

const collect = (own: (record: DynamoDBRecord) => boolean) => {
  const records: DynamoDBRecord[] = [];
  return {
    records,
    listener: ({ Records }: DynamoDBStreamEvent): void => void records.push(...Records.filter(own)),
    until: (count: number) => until(`${count} records`, () => (records.length >= count ? true : undefined)),
  };
};

test('KEY-3 every item write is delivered in order with both images, in the format of Lambda', async () => {
  const { changes } = await follow();
  const { accountId, credit, own } = await newAccount();
  const seen = collect(own);
  changes.subscribe(seen.listener);
  await credit('a', 'b');
  await seen.until(5);
  expect(seen.records.map((record) => [record.eventName, sortOf(record)])).toEqual([
    ['INSERT', 'ACCOUNT'],
    ['INSERT', 'CREDIT#a'],
    ['MODIFY', 'ACCOUNT'],
    ['INSERT', 'CREDIT#b'],
    ['MODIFY', 'ACCOUNT'],
  ]);
  const [begun, , first, , second] = seen.records;
  expect(begun?.dynamodb?.OldImage).toBeUndefined();
  expect(first?.dynamodb?.OldImage).toEqual(begun?.dynamodb?.NewImage);
  expect(second?.dynamodb?.OldImage).toEqual(first?.dynamodb?.NewImage);
  expect(second?.dynamodb).toMatchObject({
    Keys: { pk: { S: `account#${accountId}` }, sk: { S: 'ACCOUNT' } },
    // The amount is larger than a JavaScript number can hold exactly.
    NewImage: { credited: { N: String(2n * 10n ** 30n) }, version: { N: '2' }, holds: { M: {} } },
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  });
  expect(second?.dynamodb?.ApproximateCreationDateTime).toBeTypeOf('number');
  expect(JSON.parse(JSON.stringify(second))).toEqual(second);
  const numbers = seen.records.map((record) => BigInt(numberOf(record)));
  expect(numbers).toEqual(numbers.toSorted((one, other) => Number(one - other)));
});

test('KEY-3 a batch is retried from its first failed record, and newer changes wait', async () => {
  const { changes, failures } = await follow();
  const { credit, own } = await newAccount();
  const batches: string[][] = [];
  // The changes are read only after the first subscription, so these credits share one batch.
  await credit('a', 'b', 'c');
  changes.subscribe(async ({ Records }) => {
    const mine = Records.filter((record) => own(record) && record.eventName === 'MODIFY').map(numberOf);
    batches.push(mine);
    return {
      batchItemFailures: batches.length < 3 ? mine.slice(-2).map((itemIdentifier) => ({ itemIdentifier })) : [],
    };
  });
  await until('the last attempt', () => (batches.length >= 3 ? true : undefined));
  await credit('d');
  await until('the next change', () => batches[3]);
  const [all = [], ...later] = batches;
  expect(all).toHaveLength(3);
  expect(later).toEqual([all.slice(1), all.slice(1), [expect.any(String)]]);
  expect(failures).toEqual([]);
});

const attemptsOf = async (answer: (records: readonly DynamoDBRecord[]) => unknown) => {
  const { changes, failures } = await follow();
  const { credit, own } = await newAccount();
  const attempts: (readonly DynamoDBRecord[])[] = [];
  await credit('a');
  changes.subscribe((event) => {
    const mine = event.Records.filter(own);
    attempts.push(mine);
    return answer(mine);
  });
  return { attempts, failures, credit };
};

test('KEY-3 a record that fails every attempt is dropped with a log line, and the next follows', async () => {
  const { attempts, failures, credit } = await attemptsOf(([record]) => ({
    batchItemFailures: record && sortOf(record) === 'ACCOUNT' ? [{ itemIdentifier: numberOf(record) }] : [],
  }));
  await until('the line', () => failures[0]);
  const first = attempts[0]![0]!;
  // One attempt more than there are retry delays. Each starts at the record that failed first.
  expect(attempts.map(([record]) => record && numberOf(record))).toEqual(Array(4).fill(numberOf(first)));
  expect(failures).toEqual([`changes of accounts were dropped: ${numberOf(first)}`]);
  await credit('b');
  await until('the next change', () =>
    attempts.flat().some((record) => sortOf(record) === 'CREDIT#b') ? true : undefined,
  );
});

test.each([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['names a record that it did not get', () => ({ batchItemFailures: [{ itemIdentifier: 'another' }] })],
])('KEY-3 a function that %s gets the whole batch again until the retries end', async (_, answer) => {
  const { attempts, failures } = await attemptsOf(answer);
  await until('the line', () => failures[0]);
  expect(attempts).toHaveLength(4);
  expect(failures[0]).toContain(attempts[0]!.map(numberOf).join(', '));
});

test('KEY-3 a failing or slow listener delays no other, and a listener that left gets nothing', async () => {
  const { changes } = await follow({ retryDelaysMs: Array(1_000).fill(5) });
  const { credit, own } = await newAccount();
  const [live, left] = [collect(own), collect(own)];
  changes.subscribe(() => Promise.reject(new Error('down')));
  const { promise, resolve: endSlow } = Promise.withResolvers<void>();
  changes.subscribe(() => promise);
  const leave = changes.subscribe(left.listener);
  changes.subscribe(live.listener);
  await credit('a');
  await live.until(3);
  leave();
  await credit('b');
  await live.until(5);
  expect(left.records.length).toBeLessThan(5);
  endSlow();
});

test('KEY-3 changes written without a listener are delivered later, in the same run or the next', async () => {
  const positionFile = join(folder, 'position');
  const { own, credit } = await newAccount();
  const first = await follow({ positionFile });
  await credit('a');
  const one = collect(own);
  first.changes.subscribe(one.listener);
  await one.until(2);
  await first.changes.stop();
  await credit('b');
  const second = await follow({ positionFile });
  const two = collect(own);
  second.changes.subscribe(two.listener);
  await two.until(2);
  expect(two.records.map(sortOf)).toEqual(['CREDIT#b', 'ACCOUNT']);
  await second.changes.stop();
});

test.each([
  ['none', undefined],
  ['the position of another database', '{"streamArn":"arn:other","sequenceNumber":"999999"}'],
  ['a position that a crash cut off', '{"stream'],
])('KEY-3 every change is delivered if the position file has no usable position: %s', async (_, note) => {
  const { own, credit, accountId } = await newAccount();
  await credit('a');
  const positionFile = join(folder, accountId);
  if (note !== undefined) writeFileSync(positionFile, note);
  const { changes, failures } = await follow({ positionFile });
  const seen = collect(own);
  changes.subscribe(seen.listener);
  await credit('b');
  await seen.until(5);
  expect(seen.records.map(sortOf)).toEqual(['ACCOUNT', 'CREDIT#a', 'ACCOUNT', 'CREDIT#b', 'ACCOUNT']);
  expect(failures).toEqual([]);
});

test('KEY-3 a change that failed before the stop is delivered after the next start', async () => {
  const positionFile = join(folder, 'untaken');
  const { own, credit } = await newAccount();
  const first = await follow({ positionFile, retryDelaysMs: [60_000] });
  let attempts = 0;
  first.changes.subscribe(({ Records }) => {
    if (!Records.some(own)) return;
    attempts += 1;
    throw new Error('down');
  });
  await credit('a');
  await until('an attempt', () => (attempts > 0 ? true : undefined));
  await first.changes.stop();
  const second = await follow({ positionFile });
  const seen = collect(own);
  second.changes.subscribe(seen.listener);
  await seen.until(3);
  expect(seen.records.map(sortOf).slice(-2)).toEqual(['CREDIT#a', 'ACCOUNT']);
  expect(first.failures).toEqual([]);
});

test('KEY-3 a table without a stream is reported once, and following it does nothing', async () => {
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  await client.send(
    new CreateTableCommand({
      TableName: 'plain',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 1 }, { TableName: 'plain' });
  client.destroy();
  const { changes, failures } = await follow({ table: 'plain' });
  changes.subscribe(() => undefined)();
  await changes.stop();
  expect(failures).toEqual([expect.stringContaining('plain has no stream')]);
});
