import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toAttributes } from '../../../../lambdas/stores/dynamodb/attribute-values.ts';
import type { Item, Value } from '../../../../lambdas/stores/dynamodb/item.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { startRecordingTable, type TableReply, type TableRequest } from '../../../support/recording-table.ts';
import { type Call, lean, leanOnSdkHandler, outcomeOf, throughSdk, type Way } from './call-ways.ts';

/** Compares hot calls with the SDK's own commands, on the endpoint of a table. */
let table: Awaited<ReturnType<typeof startRecordingTable>>;
beforeAll(async () => {
  table = await startRecordingTable();
});
afterAll(() => table.stop());

/** Headers that may differ: the time and the signature, and those that only count calls of the SDK. */
const IGNORED = ['amz-sdk-invocation-id', 'authorization', 'user-agent', 'x-amz-date', 'x-amz-user-agent'];

const toComparable = ({ headers, body, ...rest }: TableRequest) => {
  const { 'x-amz-content-sha256': bodyHash, ...others } = headers;
  const kept = Object.entries(others).filter(([name]) => !IGNORED.includes(name));
  // The members of the body may have another order, and another hash then.
  expect(bodyHash).toBe(hash('sha256', body));
  return { ...rest, headers: Object.fromEntries(kept), body: JSON.parse(body) };
};

const resultOf = async (way: Way, call: Call) => {
  const outcome = await outcomeOf(way, call);
  return { outcome, types: way.types.splice(0), requests: table.takeRequests().map(toComparable) };
};

const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('', '"', '\\', '\u2028', 'ключ'));
// After a name that ends with a backslash, JSON.parse of V8 13.6 can read another name as that one.
const names = texts.filter((name) => name !== '' && name !== '__proto__' && !name.endsWith('\\'));
const integers = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    texts,
    integers,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.uint8Array({ maxLength: 40 }),
    fc.uniqueArray(texts, { minLength: 1, maxLength: 3 }).map((members) => new Set(members)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const items: fc.Arbitrary<Item> = fc.dictionary(names, values, { maxKeys: 6, noNullPrototype: true });

const shared = {
  condition: fc.option(fc.constantFrom('attribute_not_exists(pk)', '#a = :a'), { nil: undefined }),
  names: fc.option(fc.dictionary(fc.constantFrom('#a', '#b'), names, { noNullPrototype: true }), { nil: undefined }),
  values: fc.option(items, { nil: undefined }),
  onFailure: fc.constantFrom('ALL_OLD' as const, 'NONE' as const, undefined),
};
const tableNames = fc.constantFrom('accounts', 'keys');
const calls: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ ...shared, table: tableNames, item: items }).map(
    (put): Call =>
      (way) =>
        way.put(put),
  ),
  fc
    .record({
      ...shared,
      table: tableNames,
      key: items,
      update: texts,
      returns: fc.constantFrom('ALL_NEW' as const, 'NONE' as const, undefined),
    })
    .map(
      (update): Call =>
        (way) =>
          way.update(update),
    ),
);

const exceptions = [
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'TransactionInProgressException',
  'LimitExceededException',
  'ItemCollectionSizeLimitExceededException',
  'ValidationException',
  'SerializationException',
  'ResourceNotFoundException',
  'AccessDeniedException',
  'ExpiredTokenException',
  'InternalServerError',
  'ServiceUnavailable',
  'Unheard',
];
const prefixes = ['com.amazonaws.dynamodb.v20120810#', 'com.amazon.coral.validate#', ''];

const withChecksum = (reply: TableReply): TableReply => ({
  ...reply,
  headers: { ...reply.headers, 'x-amz-crc32': `${crc32(reply.body)}`, 'x-amzn-requestid': 'ID' },
});

const successes = fc.oneof(
  items.map((item) => JSON.stringify({ Attributes: toAttributes(item) })),
  fc.constantFrom('', '{}', 'null', '[]', '<html>', '{"Attribu'),
);
const errorBodies = fc.oneof(
  fc
    .tuple(fc.constantFrom(...prefixes), fc.constantFrom(...exceptions), fc.constantFrom('message', 'Message', 'none'))
    .map(([prefix, name, field]) => JSON.stringify({ __type: prefix + name, [field]: 'Signature expired: now' })),
  fc.option(items).map((item) =>
    JSON.stringify({
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      message: 'The conditional request failed',
      ...(item && { Item: toAttributes(item) }),
    }),
  ),
  fc.constantFrom('', '{}', 'null', '<html>', '{"__type":"x#InvalidSignatureException","message":"Signature expired"}'),
);
const failures: fc.Arbitrary<TableReply> = fc.record({
  status: fc.constantFrom(400, 400, 400, 307, 413, 429, 500, 501, 502, 503, 504),
  headers: fc.constantFrom<TableReply['headers']>({}, { 'x-amzn-errortype': 'ThrottlingException:http://x' }),
  body: errorBodies,
});
const cuts = fc.constant<TableReply>({ status: 200, body: '{}', cut: 'before' });
const replies = fc
  .oneof(
    { weight: 3, arbitrary: successes.map((body): TableReply => ({ status: 200, body })) },
    { weight: 6, arbitrary: failures },
    { weight: 1, arbitrary: cuts },
  )
  .map(withChecksum);

const runs = randomRuns(import.meta.filename, { quick: 100, long: 10_000 });

test('BILL-14 a hot call sends the request and has the outcome of the SDK', async () => {
  const waysOf = (maxAttempts: number) => ({
    sdk: throughSdk({ endpoint: table.endpoint, maxAttempts }),
    others: [
      lean({ endpoint: table.endpoint, maxAttempts }),
      leanOnSdkHandler({ endpoint: table.endpoint, maxAttempts }),
    ],
  });
  const ways = { once: waysOf(1), repeating: waysOf(2) };
  const property = fc.asyncProperty(
    calls,
    replies,
    fc.constantFrom('once' as const, 'repeating' as const),
    async (call, reply, client) => {
      table.setReply(reply);
      const expected = await resultOf(ways[client].sdk, call);
      for (const other of ways[client].others) expect(await resultOf(other, call)).toEqual(expected);
    },
  );
  await fc.assert(property, runs);
});

const put: Call = (way) => way.put({ table: 'accounts', item: { pk: 'a' } });
const both = [throughSdk, lean, leanOnSdkHandler];
const lost = { kind: 'unavailable', message: 'TimeoutError' };

test('BILL-14 a call without a response in time is unavailable, and a hold is not sent again', async () => {
  table.setReply({ status: 200, body: '{}', stall: 'before' });
  const limits = { connectionTimeout: 0, requestTimeout: 50 };
  for (const way of both) {
    const result = await resultOf(way({ endpoint: table.endpoint, maxAttempts: 1, limits }), put);
    expect(result).toMatchObject({ outcome: lost, requests: [{ method: 'POST' }] });
  }
  for (const way of both) {
    const result = await resultOf(way({ endpoint: table.endpoint, maxAttempts: 2, limits }), put);
    expect(result).toMatchObject({ outcome: lost, types: ['TRANSIENT', 'TRANSIENT'], requests: [{}, {}] });
  }
});

test('BILL-14 a response that stops within its body is unavailable, and a hold is not sent again', async () => {
  table.setReply({ status: 200, body: '{"Attributes"', stall: 'within' });
  const limits = { connectionTimeout: 0, requestTimeout: 50 };
  const stalled = await resultOf(lean({ endpoint: table.endpoint, maxAttempts: 1, limits }), put);
  expect(stalled).toMatchObject({ outcome: lost, requests: [{}] });
  table.setReply({ status: 200, body: '{}', cut: 'within' });
  for (const way of both) {
    const cut = await resultOf(way({ endpoint: table.endpoint, maxAttempts: 1 }), put);
    expect(cut).toMatchObject({ outcome: { kind: 'unavailable' }, requests: [{}] });
  }
});

test('BILL-14 a response that differs from its checksum is unavailable, whatever it says', async () => {
  const checksum = { 'x-amz-crc32': `${crc32('{}') + 1}` };
  for (const [status, body] of [
    [200, '{}'],
    [400, '{"__type":"x#ConditionalCheckFailedException"}'],
  ] as const) {
    table.setReply({ status, body, headers: checksum });
    const result = await resultOf(lean({ endpoint: table.endpoint, maxAttempts: 1 }), put);
    expect(result).toMatchObject({ outcome: { kind: 'unavailable', message: 'ChecksumError' }, requests: [{}] });
  }
});

test('hot calls share a connection', async () => {
  table.setReply({ status: 200, body: '{}' });
  const way = lean({ endpoint: table.endpoint, maxAttempts: 1 });
  const before = table.connections();
  for (let sent = 0; sent < 3; sent += 1) await put(way.calls);
  expect(table.connections() - before).toBe(1);
  table.takeRequests();
});
