import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AccountStore } from '../../../../lambdas/core/accounts/account-store.ts';
import type { UpdateLog } from '../../../../lambdas/core/accounts/chats.ts';
import type { KeyStore } from '../../../../lambdas/core/accounts/key-store.ts';
import type { CircuitStore } from '../../../../lambdas/core/circuit/circuit-store.ts';
import type { ClaimStore } from '../../../../lambdas/core/idempotency/claim-store.ts';
import type { LedgerStore } from '../../../../lambdas/core/ledger/ledger.ts';
import { type AddressCounters, bucketOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import type { VideoJobStore } from '../../../../lambdas/core/videos/video-job.ts';
import { createAccountStore } from '../../../../local/stores/sqlite/account-store.ts';
import { createCircuitStore } from '../../../../local/stores/sqlite/circuit-store.ts';
import { createClaimStore } from '../../../../local/stores/sqlite/claim-store.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createAddressCounters, createKeyStore } from '../../../../local/stores/sqlite/key-store.ts';
import { createLedgerRecords, createOperationLog } from '../../../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore } from '../../../../local/stores/sqlite/ledger-store.ts';
import { createUpdateLog } from '../../../../local/stores/sqlite/update-log.ts';
import { createVideoJobStore } from '../../../../local/stores/sqlite/video-job-store.ts';
import { accountNamed, keyNamed } from '../../../contracts/account-subjects.ts';
import { orderOf } from '../../../contracts/video-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

const NOW = Date.UTC(2026, 10, 1);
const ref = { accountId: 'account-1', keyHash: 'a'.repeat(64) };
const claim = { ...ref, owner: 'first', nowMs: NOW, leaseUntilMs: NOW + 1, expiresAtMs: NOW + 2 };
const prepared = { holdId: 'first.0', hash: 'b', content: { objectName: 'account-1/first' } };
const circuit = { providerId: 'vendor', modelId: 'model' };
const opening = { openUntilMs: NOW, openings: 1, goodProbes: 0 };
const bucket = { startMs: NOW, failures: 1, successes: 0, accounts: [] };
const order = orderOf();
const failure = { code: 'upstream_error', message: 'gone' } as const;
const file = { name: 'one', bytes: 5, sha256: 'c' };

type Calls<Store> = Readonly<Record<keyof Store, (store: Store) => Promise<unknown>>>;

const claims: Calls<ClaimStore> = {
  claim: (store) => store.claim({ ...claim, fingerprint: 'print', dispatchesMax: 6 }),
  renew: (store) => store.renew(ref, 'first', NOW + 1),
  stageResponse: (store) => store.stageResponse(ref, 'first', prepared, NOW + 2),
  complete: (store) => store.complete(ref, 'first'),
  free: (store) => store.free(ref, 'first', 1),
  takeOver: (store) => store.takeOver({ ...claim, from: 'first' }),
  read: (store) => store.read(ref),
};

const circuits: Calls<CircuitStore> = {
  read: (store) => store.read(circuit, [NOW], NOW),
  count: (store) => store.count(circuit, bucket, NOW),
  open: (store) => store.open(circuit, opening, NOW, NOW + 1),
  lease: (store) => store.lease(circuit, { owner: 'first', leaseUntilMs: NOW }, NOW),
  renew: (store) => store.renew(circuit, 'first', NOW),
  releaseProbe: (store) => store.releaseProbe(circuit, 'first'),
  judge: (store) => store.judge(circuit, 'first', opening, NOW),
  close: (store) => store.close(circuit, 'first'),
  countMissing: (store) => store.countMissing('model', 'account', NOW, NOW),
  readMissing: (store) => store.readMissing('model', [NOW]),
  quarantine: (store) => store.quarantine('model', NOW, NOW),
};

const videos: Calls<VideoJobStore> = {
  create: (store) => store.create(order, NOW),
  abandon: (store) => store.abandon(order.id),
  read: (store) => store.read(order.id),
  locate: (store) => store.locate(order.id),
  setUpstream: (store) => store.setUpstream(order.id, 'up-1'),
  refuse: (store) => store.refuse(order.id, failure),
  advance: (store) => store.advance(order.id, 5),
  noteFailure: (store) => store.noteFailure(order.id, failure),
  noteFile: (store) => store.noteFile(order.id, file, 7),
  end: (store) => store.end(order.id, { state: 'failed', failure }),
  noteDelivery: (store) => store.noteDelivery(order.id, { attempts: 1, lastAtMs: NOW }),
  list: (store) => store.list(order.accountId, { limit: 1, newestFirst: true }),
  remove: (store) => store.remove(order.id),
  due: (store) => store.due(NOW),
  postpone: (store) => store.postpone(order.id, NOW),
};

const account = accountNamed('one');
const oldHash = account.key.hash;
const chatId = account.chatId ?? '';
const rate = bucketOf(10, 15);

/** Calls that do not wait for the disk. */
type Rate = 'take' | 'read' | 'readMany' | 'raiseFactor' | 'setAllowance';

const accounts: Calls<AccountStore> = {
  open: (store) => store.open(accountNamed('two')),
  chat: (store) => store.chat(chatId),
  profile: (store) => store.profile('one'),
  setBlocked: (store) => store.setBlocked('one', true, oldHash),
  setThreshold: (store) => store.setThreshold('one', 5n),
  setLanguage: (store) => store.setLanguage(chatId, 'en'),
  setChatClosed: (store) => store.setChatClosed(chatId, true),
  markNoticed: (store) => store.markNoticed(chatId, 5),
};

const keyChanges: Calls<Omit<KeyStore, Rate>> = {
  currentKey: (store) => store.currentKey('one'),
  ring: (store) => store.ring('one'),
  changeRing: async (store) => {
    const before = await store.ring('one');
    await store.changeRing({ accountId: 'one', before, after: before });
  },
  putFirstKey: (store) => store.putFirstKey('one', keyNamed('next'), NOW),
  replaceKey: (store) => store.replaceKey({ accountId: 'one', oldHash, key: keyNamed('next'), atMs: NOW }),
  revokeKey: (store) => store.revokeKey('one', oldHash),
  markShown: (store) => store.markShown('one', oldHash),
};

const hold = { accountId: 'one', holdId: 'r.0', amountPicos: 1n, expiresAtMs: NOW, sweepAtMs: NOW };
const record = {
  accountId: 'one',
  holdId: 'r.0',
  requestId: 'r',
  outcome: 'settled',
  amountPicos: 1n,
  at: NOW,
} as const;

const ledgers: Calls<LedgerStore> = {
  hold: (store) => store.hold({ ...hold, previousHoldId: undefined }),
  putRecord: (store) => store.putRecord(record),
  apply: (store) => store.apply(record, 1n, 0),
  readAccount: (store) => store.readAccount('one'),
  readRecord: (store) => store.readRecord('one', 'r.0'),
  createAccount: (store) => store.createAccount('two', NOW),
  closeMonths: (store) => store.closeMonths('one', NOW),
  credit: (store) => store.credit({ accountId: 'one', ref: 'next', amountPicos: 1n, reason: 'test', at: NOW }),
  due: (store) => store.due(NOW),
  reschedule: (store) => store.reschedule('one', NOW, NOW),
  sweepBy: (store) => store.sweepBy('one', NOW),
  clearUncollected: (store) => store.clearUncollected('one'),
};
const withoutDisk: readonly string[] = ['hold', 'apply', 'due', 'reschedule', 'sweepBy'];

const updates: Calls<UpdateLog> = {
  claim: (store) => store.claim('update#1', NOW),
  finish: (store) => store.finish('update#1', NOW),
  free: (store) => store.free('update#1'),
};

const rates: Calls<Pick<KeyStore, Rate>> = {
  take: (store) => store.take(oldHash, rate, () => NOW * 1_000),
  read: (store) => store.read(oldHash),
  readMany: (store) => store.readMany([oldHash]),
  raiseFactor: (store) => store.raiseFactor(oldHash, { factor: 2, atMs: NOW }),
  setAllowance: (store) => store.setAllowance(oldHash, { picos: 5n, atMs: NOW }),
};

const counters: Calls<AddressCounters> = { take: (store) => store.take('192.0.2.1', rate, () => NOW * 1_000) };

let db: Database;
let syncs = 0;
beforeEach(async () => {
  db = await openTestDatabase({
    sync: async () => {
      syncs += 1;
    },
  });
});
afterEach(() => db.close());

/** Whether the call waits for a sync while an earlier write is not on the disk yet. */
const isDurable = async (call: () => Promise<unknown>): Promise<boolean> => {
  await db.write(() => undefined);
  syncs = 0;
  await call();
  return syncs > 0;
};

test.each(Object.entries(ledgers))(
  'OPS-8 records and credits wait for the disk, holds and applied charges do not: %s',
  async (name, call) => {
    await createAccountStore(db).open(account);
    expect(await isDurable(() => call(createLedgerStore(db)))).toBe(!withoutDisk.includes(name));
  },
);

test('OPS-8 operations, and the records that an audit reads, wait for the disk', async () => {
  const [log, records] = [createOperationLog(db), createLedgerRecords(db)];
  for (const call of [
    () => log.add({ accountId: 'one', id: '1', command: 'credit', reason: 'test', at: NOW }),
    () => log.list('one'),
    () => records.listRecords('one', { limit: 1 }),
    () => records.recordsOfRequest('one', 'r'),
    () => records.readCredits('one'),
    () => Array.fromAsync(records.accountPlaces()),
  ])
    expect(await isDurable(call), String(call)).toBe(true);
});

test.each(Object.entries(claims))(
  'OPS-8 IDEM-2 a claim survives a power cut after %s, except a renewal',
  async (name, call) => {
    const store = createClaimStore(db);
    await claims.claim(store);
    expect(await isDurable(() => call(store))).toBe(name !== 'renew');
  },
);

test.each(Object.entries(circuits))('OPS-8 FALL-1 %s of a circuit does not wait for the disk', async (_name, call) => {
  const store = createCircuitStore(db);
  expect(await isDurable(() => call(store))).toBe(false);
});

test.each(Object.entries(videos))('OPS-8 VID-3 a video survives a power cut after %s', async (_name, call) => {
  const store = createVideoJobStore(db);
  await videos.create(store);
  expect(await isDurable(() => call(store))).toBe(true);
});

test.each(Object.entries(accounts))(
  'OPS-8 KEY-2 an account and its key survive a power cut after %s',
  async (_name, call) => {
    const store = createAccountStore(db);
    await store.open(account);
    expect(await isDurable(() => call(store))).toBe(true);
  },
);

test.each(Object.entries(keyChanges))('OPS-8 KEY-2 an API key survives a power cut after %s', async (_name, call) => {
  await createAccountStore(db).open(account);
  expect(await isDurable(() => call(createKeyStore(db)))).toBe(true);
});

test.each(Object.entries(updates))(
  'OPS-8 KEY-1 a finished bot update alone waits for the disk: %s',
  async (name, call) => {
    const store = createUpdateLog(db);
    expect(await isDurable(() => call(store))).toBe(name === 'finish');
  },
);

test('OPS-8 LIM-2 BILL-20 rates and estimate factors do not wait for the disk', async () => {
  await createAccountStore(db).open(account);
  const [keyStore, addressCounters] = [createKeyStore(db), createAddressCounters(db)];
  for (const call of Object.values(rates)) expect(await isDurable(() => call(keyStore))).toBe(false);
  for (const call of Object.values(counters)) expect(await isDurable(() => call(addressCounters))).toBe(false);
});
