import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, test as plainTest } from 'vitest';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import type { HoldRequest, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { createDatabases, createS3Client } from '../../lambdas/functions/wiring/clients.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localMediaBucket } from '../../local/emulators/s3.ts';
import { createTestClients, hasDynamodb, openTestTables, type TestTables } from '../support/dynamodb.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestBucket } from '../support/fault-proxy-bucket.ts';
import { s3Wire } from '../support/fault-proxy-wire.ts';
import { createMoment } from '../support/memory/faults.ts';

const test = plainTest.skipIf(!hasDynamodb);
let tables: TestTables;
let proxy: FaultProxy;
let clients: TestTables['clients'];
let store: LedgerStore;
let direct: LedgerStore;
let accounts = 0;
let accountId: string;

beforeAll(async () => {
  if (!hasDynamodb) return;
  tables = await openTestTables();
  proxy = await startFaultProxy({ target: tables.endpoint });
  clients = createTestClients(proxy.endpoint);
  store = createLedgerStore(createDatabases(clients), tables.names.accounts);
  direct = createLedgerStore(createDatabases(tables.clients), tables.names.accounts);
});
afterAll(async () => {
  for (const client of [clients?.once, clients?.repeating]) client?.destroy();
  await proxy?.stop();
});
beforeEach(async () => {
  if (!hasDynamodb) return;
  proxy.setPlan(undefined);
  accounts += 1;
  accountId = `proxy-${accounts}`;
  await direct.createAccount(accountId, 0);
  await direct.credit({ accountId, ref: 'first', amountPicos: 1_000n, reason: 'test', at: 0 });
  proxy.forget();
});

const hold = (number = 0): HoldRequest => ({
  accountId,
  holdId: `r.${number}`,
  amountPicos: 100n,
  expiresAtMs: 5_000,
  sweepAtMs: 5_000,
  previousHoldId: undefined,
});
const record = () =>
  ({ accountId, holdId: 'r.0', requestId: 'r', outcome: 'settled', amountPicos: 70n, at: 5 }) as const;
const kindOf = async (pending: Promise<unknown>): Promise<string> =>
  pending.then(
    () => 'answered',
    (error: unknown) => (error instanceof StoreError ? error.kind : String(error)),
  );
const openHolds = async (): Promise<readonly string[]> => [
  ...((await direct.readAccount(accountId))?.holds.keys() ?? []),
];
/** Faults of the first calls, one each. */
const planned = (...faults: readonly (Fault | undefined)[]) => {
  const left = [...faults];
  proxy.setPlan(() => left.shift());
};
const seen = () => proxy.calls.map(({ operation, key, turn }) => `${operation} ${key} ${turn}`);

test('BILL-14 calls pass unchanged and are recorded by operation and key', async () => {
  expect(await store.hold(hold())).toMatchObject({ kind: 'held', account: { availablePicos: 900n } });
  expect(await store.putRecord(record())).toEqual({ kind: 'written' });
  expect(await store.putRecord(record())).toEqual({ kind: 'exists', record: record() });
  expect(await store.apply(record(), 100n, 0)).toMatchObject({ availablePicos: 930n, spentPicos: 70n });
  await store.credit({ accountId, ref: 'second', amountPicos: 1n, reason: 'test', at: 0 });
  expect(await store.due(0)).toEqual([]);
  expect(seen().slice(0, 5)).toEqual([
    `UpdateItem account#${accountId} ACCOUNT 0`,
    `PutItem account#${accountId} CHARGE#r.0 0`,
    `PutItem account#${accountId} CHARGE#r.0 1`,
    `UpdateItem account#${accountId} ACCOUNT 1`,
    `TransactWriteItems account#${accountId} CREDIT#second 0`,
  ]);
  expect(proxy.calls[4]?.keys).toEqual(
    ['CREDIT#second', 'ACCOUNT', 'STATEMENT_CREDIT#1970-01#second'].map((name) => `account#${accountId} ${name}`),
  );
  expect(seen().slice(5).toSorted()).toEqual([0, 1, 2, 3].map((shard) => `Query shard-${shard} 0`));
  expect(proxy.calls.map(({ table }) => table)).toEqual(proxy.calls.map(() => tables.names.accounts));
});

const failures: readonly (readonly [Fault, string])[] = [
  [{ kind: 'fail-before' }, 'unavailable'],
  [{ kind: 'fail-before', status: 500 }, 'unavailable'],
  [{ kind: 'fail-before', status: 503 }, 'unavailable'],
  [{ kind: 'throttle' }, 'throttled'],
  [{ kind: 'conflict' }, 'conflict'],
];

test.each(failures)('BILL-14 %j writes nothing and is a StoreError: %s', async (fault, kind) => {
  planned(fault);
  expect(await kindOf(store.hold(hold()))).toBe(kind);
  expect(await openHolds()).toEqual([]);
  // A hold is sent once.
  expect(proxy.calls).toHaveLength(1);
});

test.each(failures)(
  'BILL-14 a repeating client succeeds after one %j, unless the fault is a conflict',
  async (fault, kind) => {
    planned(fault);
    const settled = await kindOf(store.putRecord(record()));
    expect([settled, proxy.calls.length]).toEqual(kind === 'conflict' ? ['conflict', 1] : ['answered', 2]);
    planned(fault, fault);
    expect(await kindOf(store.readAccount(accountId))).toBe(kind);
  },
);

test('BILL-14 a concurrent transaction is a conflict, and one on a hot key is throttled', async () => {
  const credit = () => store.credit({ accountId, ref: 'late', amountPicos: 5n, reason: 'test', at: 0 });
  planned({ kind: 'conflict' });
  expect(await kindOf(credit())).toBe('conflict');
  planned({ kind: 'throttle' }, { kind: 'throttle' });
  expect(await kindOf(credit())).toBe('throttled');
  expect(await direct.readAccount(accountId)).toMatchObject({ creditedPicos: 1_000n });
  expect(await credit()).toEqual({ kind: 'credited' });
});

test('BILL-14 a call with a lost reply writes without its caller knowing', async () => {
  planned({ kind: 'lose-reply' });
  expect(await kindOf(store.hold(hold()))).toBe('unavailable');
  expect(await openHolds()).toEqual(['r.0']);
  // The client repeats the write and finds the record of its first attempt.
  planned({ kind: 'lose-reply' });
  expect(await store.putRecord(record())).toEqual({ kind: 'exists', record: record() });
});

test('BILL-13 a delayed hold fails immediately and lands when it is let through', async () => {
  const late = createMoment();
  planned({ kind: 'hold-back', until: late.until });
  expect(await kindOf(store.hold(hold()))).toBe('unavailable');
  expect(await store.hold(hold(1))).toMatchObject({ kind: 'held' });
  expect(await openHolds()).toEqual(['r.1']);
  late.come();
  await proxy.landed();
  expect((await openHolds()).toSorted()).toEqual(['r.0', 'r.1']);
  expect(await direct.readAccount(accountId)).toMatchObject({ availablePicos: 800n });
});

test('BILL-13 a hold that is executed again after its end would be open again', async () => {
  const again = createMoment();
  planned({ kind: 'repeat', until: again.until });
  expect(await store.hold(hold())).toMatchObject({ kind: 'held' });
  await store.putRecord(record());
  await store.apply(record(), 100n, 0);
  expect(await openHolds()).toEqual([]);
  again.come();
  await proxy.landed();
  expect(await openHolds()).toEqual(['r.0']);
});

test('BILL-14 a delayed call waits for the test and returns its normal reply', async () => {
  const later = createMoment();
  planned({ kind: 'delay', until: later.until });
  const pending = store.readAccount(accountId);
  let answered = false;
  pending.then(() => {
    answered = true;
  });
  await direct.readAccount(accountId);
  expect(answered).toBe(false);
  later.come();
  expect(await pending).toMatchObject({ id: accountId });
});

test('BILL-14 during an outage no call arrives, and afterwards every call does', async () => {
  expect(await kindOf(store.readAccount(accountId))).toBe('answered');
  proxy.forget();
  proxy.setOutage(true);
  expect(await kindOf(store.readAccount(accountId))).toBe('unavailable');
  expect(await kindOf(store.hold(hold()))).toBe('unavailable');
  expect(proxy.calls).toEqual([]);
  proxy.setOutage(false);
  expect(await kindOf(store.hold(hold()))).toBe('answered');
});

plainTest('BILL-14 the same before a bucket: passed on, refused, lost and held back', async () => {
  const bucket = await startTestBucket();
  const front = await startFaultProxy({ target: bucket.endpoint, wire: s3Wire });
  const [s3, past] = await Promise.all(
    [front, bucket].map(({ endpoint }) => createS3Client({ endpoint, region: 'us-east-1' })),
  );
  const object = { Bucket: localMediaBucket, Key: 'outbox/r.0' };
  const put = (Body: string) =>
    s3!.send(new PutObjectCommand({ ...object, Body })).then(
      () => 'answered',
      (error: Error) => error.name,
    );
  const stored = async () => (await past!.send(new GetObjectCommand(object))).Body?.transformToString();
  const failing = (fault: Fault) => front.setPlan(() => fault);
  try {
    expect(await put('one')).toBe('answered');
    expect(await (await s3!.send(new GetObjectCommand(object))).Body?.transformToString()).toBe('one');
    expect(front.calls.map(({ operation, table, key }) => [operation, table, key])).toEqual([
      ['PUT', localMediaBucket, 'outbox/r.0'],
      ['GET', localMediaBucket, 'outbox/r.0'],
    ]);
    failing({ kind: 'throttle' });
    expect(await put('two')).toBe('SlowDown');
    failing({ kind: 'fail-before', status: 500 });
    expect(await put('two')).toBe('InternalError');
    expect(await stored()).toBe('one');
    failing({ kind: 'lose-reply' });
    expect(await put('three')).not.toBe('answered');
    expect(await stored()).toBe('three');
    const late = createMoment();
    failing({ kind: 'hold-back', until: late.until });
    expect(await put('four')).not.toBe('answered');
    expect(await stored()).toBe('three');
    late.come();
    await front.landed();
    expect(await stored()).toBe('four');
    front.setOutage(true);
    expect(await put('five')).not.toBe('answered');
  } finally {
    for (const client of [s3, past]) client?.destroy();
    await front.stop();
    await bucket.stop();
  }
});

/** First ms of the month after that of the account. */
const NEXT_MONTH = Date.UTC(1970, 1, 1);
const monthsOf = async () => {
  const records = createLedgerRecords(createDatabases(tables.clients).repeating, tables.names.accounts);
  return (await records.closings(accountId, '9999-12')).map(({ month, spentPicos }) => [month, spentPicos]);
};

test('BILL-22 a lost reply of the write that closes a month is found by the repeated call', async () => {
  await direct.hold(hold());
  planned(undefined, { kind: 'lose-reply' });
  expect(await store.apply(record(), 100n, NEXT_MONTH)).toMatchObject({ month: '1970-02', spentPicos: 70n });
  expect(await monthsOf()).toEqual([['1970-01', 0n]]);
  await direct.hold(hold(1));
  const other = { ...record(), holdId: 'r.1' };
  const march = Date.UTC(1970, 2, 1);
  planned(undefined, { kind: 'lose-reply' }, { kind: 'fail-before' });
  expect(await kindOf(store.apply(other, 100n, march))).toBe('unavailable');
  planned();
  expect(await store.apply(other, 100n, march)).toBeUndefined();
  expect(await monthsOf()).toEqual([
    ['1970-02', 70n],
    ['1970-01', 0n],
  ]);
  expect(await direct.readAccount(accountId)).toMatchObject({ month: '1970-03', spentPicos: 140n });
});

test('BILL-22 a late write of an earlier month moves no month back and writes no closing', async () => {
  await direct.hold(hold());
  const late = createMoment();
  planned({ kind: 'hold-back', until: late.until }, { kind: 'fail-before' });
  expect(await kindOf(store.apply(record(), 100n, 0))).toBe('unavailable');
  await direct.closeMonths(accountId, NEXT_MONTH);
  late.come();
  await proxy.landed();
  expect(await direct.readAccount(accountId)).toMatchObject({ month: '1970-02', spentPicos: 70n });
  expect(await monthsOf()).toEqual([['1970-01', 0n]]);
});

test('BILL-22 a write that closes a month too late changes nothing', async () => {
  await direct.hold(hold());
  const late = createMoment();
  planned(undefined, { kind: 'hold-back', until: late.until }, { kind: 'fail-before' });
  expect(await kindOf(store.apply(record(), 100n, NEXT_MONTH))).toBe('unavailable');
  await direct.apply(record(), 100n, NEXT_MONTH);
  const before = await direct.readAccount(accountId);
  late.come();
  await proxy.landed();
  expect(await direct.readAccount(accountId)).toEqual(before);
  expect(await monthsOf()).toEqual([['1970-01', 0n]]);
});

test('BILL-22 a lost reply of the first credit of a month counts it once', async () => {
  const credit = () => store.credit({ accountId, ref: 'second', amountPicos: 7n, reason: 'test', at: NEXT_MONTH });
  planned(undefined, { kind: 'lose-reply' }, { kind: 'fail-before' });
  expect(await kindOf(credit())).toBe('unavailable');
  planned();
  expect(await credit()).toEqual({ kind: 'repeated' });
  expect(await direct.readAccount(accountId)).toMatchObject({ month: '1970-02', creditedPicos: 1_007n });
});
