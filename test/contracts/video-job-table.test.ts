import { afterAll, beforeAll, beforeEach, expect, test as plainTest } from 'vitest';
import type { VideoJobStore } from '../../lambdas/core/videos/video-job.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { toVideoItem } from '../../lambdas/stores/dynamodb/video-item.ts';
import { createVideoJobStore } from '../../lambdas/stores/dynamodb/video-job-store.ts';
import { createTestClients, hasDynamodb, type TestTables } from '../support/dynamodb.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { CREATED_AT, DUE_AT, type JobTable, openJobTable, orderOf } from './video-subjects.ts';

type Call = (store: VideoJobStore, id: string) => Promise<unknown>;

const failure = { code: 'upstream_error', message: 'gone' } as const;
const file = { name: 'one', bytes: 5, sha256: 'a'.repeat(64) };
const accountId = 'one-by-one';
const end: Call = (store, id) => store.end(id, { state: 'completed', completedAtMs: CREATED_AT + 1 });

/** Every method on a queued job, with its result; `noteDelivery` and `remove` need a finished one. */
const methods: Record<keyof VideoJobStore, readonly [Call, expected: unknown]> = {
  create: [(store, id) => store.create({ ...orderOf(), id }, DUE_AT), { kind: 'exists' }],
  abandon: [(store, id) => store.abandon(id), { kind: 'exists' }],
  read: [(store, id) => store.read(id), { accountId }],
  locate: [(store, id) => store.locate(id), { accountId }],
  setUpstream: [(store, id) => store.setUpstream(id, 'up-1'), true],
  refuse: [(store, id) => store.refuse(id, failure), true],
  advance: [(store, id) => store.advance(id, 30), true],
  noteFailure: [(store, id) => store.noteFailure(id, failure), true],
  noteFile: [(store, id) => store.noteFile(id, file, 7), true],
  end: [end, true],
  noteDelivery: [(store, id) => store.noteDelivery(id, { attempts: 1, lastAtMs: CREATED_AT + 2 }), true],
  list: [(store) => store.list(accountId, { limit: 1, newestFirst: true }), { jobs: [{ accountId }] }],
  remove: [(store, id) => store.remove(id), true],
  due: [(store) => store.due(0), []],
  postpone: [(store, id) => store.postpone(id, DUE_AT + 1), true],
};
const names = Object.keys(methods) as (keyof VideoJobStore)[];

const test = plainTest.skipIf(!hasDynamodb);
let proxy: FaultProxy;
let clients: TestTables['clients'];
let table: JobTable;

beforeAll(async () => {
  if (!hasDynamodb) return;
  table = await openJobTable();
  proxy = await startFaultProxy({ target: table.tables.endpoint });
  clients = createTestClients(proxy.endpoint);
});
afterAll(async () => {
  for (const client of [clients?.once, clients?.repeating]) client?.destroy();
  await proxy?.stop();
});
beforeEach(() => {
  proxy?.setOutage(false);
  proxy?.setPlan(undefined);
});

const proxied = (client: keyof typeof clients): VideoJobStore =>
  createVideoJobStore(createDynamoDB(clients[client], Date.now), table.tables.names.videos);
const prepared = async (name: keyof VideoJobStore): Promise<string> => {
  const order = orderOf({ accountId });
  await proxied('repeating').create(order, DUE_AT);
  if (name === 'noteDelivery' || name === 'remove') await end(proxied('repeating'), order.id);
  proxy.forget();
  return order.id;
};
const expectAnswer = (answer: unknown, expected: unknown): void =>
  typeof expected === 'boolean' ? expect(answer).toBe(expected) : expect(answer).toMatchObject(expected as object);

test.each(names)('VID-3 %s is one call', async (name) => {
  const [call, expected] = methods[name];
  expectAnswer(await call(proxied('repeating'), await prepared(name)), expected);
  expect(proxy.calls).toHaveLength(1);
});

test.each(names)('VID-3 %s returns the same after a lost reply', async (name) => {
  const [call, expected] = methods[name];
  const id = await prepared(name);
  proxy.setPlan(({ turn }) => (turn === 0 ? { kind: 'lose-reply' } : undefined));
  await expect(call(proxied('once'), id)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  expectAnswer(await call(proxied('once'), id), expected);
  expect(proxy.calls).toHaveLength(2);
});

test.each(names)('VID-3 %s names the cause of its failure', async (name) => {
  const [call] = methods[name];
  const id = await prepared(name);
  for (const [fault, kind] of [
    ['throttle', 'throttled'],
    ['conflict', 'conflict'],
    ['fail-before', 'unavailable'],
  ] as const) {
    proxy.setPlan(() => ({ kind: fault }));
    await expect(call(proxied('once'), id)).rejects.toMatchObject({ name: 'StoreError', kind });
  }
  proxy.setOutage(true);
  await expect(call(proxied('once'), id)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});

test('VID-3 an item is in an index only while the index has to show it', async () => {
  const order = orderOf();
  const indexed = async () => {
    const { listedFor, createdAt, running, dueAt, accountId: owner } = (await table.itemOf(order.id)) ?? {};
    return [owner, listedFor, createdAt, running, dueAt].map((value) => value?.toString());
  };
  await table.store.create(order, DUE_AT);
  const listed = ['account-1', 'account-1', String(CREATED_AT)];
  expect(await indexed()).toEqual([...listed, 'yes', String(DUE_AT)]);
  await end(table.store, order.id);
  expect(await indexed()).toEqual([...listed, undefined, undefined]);
  Object.assign(order, orderOf());
  await table.store.create(order, DUE_AT);
  await table.store.refuse(order.id, failure);
  expect(await indexed()).toEqual(['account-1', undefined, String(CREATED_AT), undefined, undefined]);
});

test('BILL-3 amounts and prices are stored as exact integers', async () => {
  const order = orderOf();
  await table.store.create(order, DUE_AT);
  const item = await table.itemOf(order.id);
  expect(item).toMatchObject({ holdAmount: 12345678901234567890n, terms: { rate: 12345678901234567n } });
});

test.each([
  ['progress', 'half', 'a stored item has no number "progress"'],
  ['prompt', 5, 'a stored item has no text "prompt"'],
])('ERR-5 an unreadable %s is an error that names the job', async (name, value, complaint) => {
  const order = orderOf();
  await table.put({ ...toVideoItem(order, DUE_AT), [name]: value });
  await expect(table.store.read(order.id)).rejects.toThrow(`video#${order.id}: ${complaint}`);
});

test('OPS-11 a job with a wire and fields of a newer release is read', async () => {
  const order = orderOf();
  await table.put({ ...toVideoItem(order, DUE_AT), wire: 'smoke_signals', extra: { odd: true } });
  const read = { ...order, wire: 'smoke_signals', state: 'queued', progress: 0, refused: false };
  expect(await table.store.read(order.id)).toEqual(read);
});

test('OPS-11 a job that a newer release removed in its own way counts as removed', async () => {
  const order = orderOf();
  await table.put({ pk: `video#${order.id}`, gone: 'archived' });
  const { store } = table;
  expect([await store.read(order.id), await store.create(order, 0), await store.abandon(order.id)]).toEqual([
    undefined,
    { kind: 'closed' },
    { kind: 'removed' },
  ]);
});

test('VID-3 a job with an error code that no longer exists can still end', async () => {
  const order = orderOf();
  await table.put({ ...toVideoItem(order, DUE_AT), failure: { code: 'oops', message: 'm' } });
  expect(await table.store.read(order.id)).toMatchObject({ failure: { code: 'internal_error', message: 'm' } });
});
