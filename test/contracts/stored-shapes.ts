import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import type { NamedKey } from '../../lambdas/core/accounts/key-ring.ts';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { changeCap, type HoldCap, keyCapOf } from '../../lambdas/core/ledger/caps.ts';
import type { Account, ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { createCircuitStore } from '../../lambdas/stores/dynamodb/circuit-store.ts';
import { createClaimStore } from '../../lambdas/stores/dynamodb/claim-store.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import {
  createAuditCursor,
  createLedgerRecords,
  createOperationLog,
} from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { createMaintenanceStore } from '../../lambdas/stores/dynamodb/maintenance-store.ts';
import { createAddressCounters } from '../../lambdas/stores/dynamodb/rate-bucket.ts';
import { createUpdateLog } from '../../lambdas/stores/dynamodb/update-log.ts';
import { createVideoJobStore } from '../../lambdas/stores/dynamodb/video-job-store.ts';
import { createWebhookSecretStore } from '../../lambdas/stores/dynamodb/webhook-secret-store.ts';
import { createAnswerStore, createMediaStore } from '../../lambdas/stores/s3/files.ts';
import { createOutbox } from '../../lambdas/stores/s3/outbox.ts';
import type { TestTables } from '../support/dynamodb.ts';

/** Everything in the tables and the bucket: items in DynamoDB's JSON, by table and key, and objects by name. */
export interface Stored {
  readonly tables: Readonly<Record<string, readonly object[]>>;
  readonly objects: Readonly<Record<string, string>>;
}

export const AT = Date.UTC(2026, 10, 22, 12);
export const DAY_MS = 86_400_000;
const KEY_HASH = 'a'.repeat(64);
export const NEW_KEY_HASH = 'b'.repeat(64);
export const ACCOUNT = 'account-1';
export const BLOCKED = 'account-2';
/** Account with packed holds and a closed month. */
export const PACKED = 'account-3';
/** Account with a named API key, its cap, and usage sums. */
export const CAPPED = 'account-4';
export const CHAT = '1001';
export const VIDEOS = ['1', '2', '3', '4', '5', '6'].map((last) => `video_01KAP4GC0000000000000000${last}0`);
export const CIRCUIT = { providerId: 'openai', modelId: 'gpt-5.4' };
const REQUESTS = ['1', '2', '3', '4'].map((last) => `01KAP4GC0000000000000000A${last}`);
export const [OPEN, SETTLED, RELEASED, WAITING] = REQUESTS.map((id) => `${id}.0`) as [string, string, string, string];
export const PACKED_HOLDS = ['1', '2'].map((last) => `01M8BVM4KV00BFXR71N60C1MK${last}.0`);
const PACKED_CHARGE = '01M8BVM4KV00BFXR71N60C1MK3.0';
const PACKED_GONE = '01M8BVM4KV00BFXR71N60C1MK4.0';
const PACKED_HASH = '3'.repeat(64);
const CAPPED_HASHES = ['4', '5'].map((digit) => digit.repeat(64)) as [string, string];
const CAPPED_HOLDS = ['1', '2'].map((last) => `01M8BVM4KV00BFXR71N60C1MM${last}.0`) as [string, string];
export const CLAIMS = ['1', '2', '3', '4'].map((last) => last.repeat(64));

/** The stores of deployed functions. `objects` receives what they put into the bucket. */
export const openStores = ({ clients, names }: TestTables, objects: Record<string, string>) => {
  const db = createDatabases(clients);
  const tables = { accounts: names.accounts, keys: names.keys };
  return {
    db,
    ledger: createLedgerStore(db, names.accounts, 'map'),
    packed: createLedgerStore(db, names.accounts, 'packed'),
    maintenance: createMaintenanceStore(db.repeating, names.counters),
    records: createLedgerRecords(db.repeating, names.accounts),
    operations: createOperationLog(db.repeating, names.accounts),
    cursor: createAuditCursor(db.repeating, names.counters),
    accounts: createAccountStore(db.repeating, tables),
    keys: createKeyStore(db, tables),
    counters: createAddressCounters(db.once, names.counters),
    updates: createUpdateLog(db.repeating, names.counters),
    circuits: createCircuitStore(db.repeating, names.counters),
    claims: createClaimStore(db.repeating, names.idempotency),
    videos: createVideoJobStore(db.repeating, names.videos),
    webhookSecrets: createWebhookSecretStore(db.repeating, names.accounts),
    outbox: createOutbox(async () => bucketOf(objects), 'media'),
    answers: createAnswerStore(async () => bucketOf(objects), 'media'),
    media: createMediaStore(async () => bucketOf(objects), 'media'),
  };
};

export type Stores = ReturnType<typeof openStores>;

/** An S3 client that keeps objects in a record, for `put` and `read`. */
const bucketOf = (objects: Record<string, string>): S3Client => {
  const send = async ({ input }: { readonly input: { readonly Key: string; readonly Body?: string | Uint8Array } }) => {
    if (input.Body !== undefined) objects[input.Key] = Buffer.from(input.Body).toString();
    return { Body: { transformToString: async () => objects[input.Key] } };
  };
  return { send } as unknown as S3Client;
};

const keyOf = (hash: string) => ({
  hash,
  label: { prefix: 'sk-service-ab', lastFour: hash.slice(-4) },
  pepperId: 'pepper-1',
  isShown: false,
});

const full = (holdId: string): ChargeRecord => ({
  accountId: ACCOUNT,
  holdId,
  requestId: holdId.slice(0, -2),
  outcome: 'settled',
  amountPicos: 12_345_678_901n,
  at: AT + 1_000,
  model: 'gpt-5.4',
  usage: { input: 40, output: 10, second: 1.5 },
  prices: { input: 8_000_000n, output: 0n },
  overage: true,
  implausible: true,
  cutAtStop: true,
  answer: 'c'.repeat(64),
  endUser: 'user-ü',
  ignored: ['seed', 'tools[].x'],
});

const released = (holdId: string): ChargeRecord => ({
  accountId: ACCOUNT,
  holdId,
  requestId: holdId.slice(0, -2),
  outcome: 'released',
  amountPicos: 0n,
  at: AT + 2_000,
  reason: 'upstream_error',
});

const BUCKET = { intervalMicros: 100_000, burst: 15 };

/** Writes an item of every kind, through every store, in every state. */
export const storeEverything = async (stores: Stores): Promise<void> => {
  await storeAccounts(stores);
  await storeMoney(stores);
  await storePacked(stores);
  await storeCapped(stores);
  await storeClaims(stores);
  await storeVideos(stores);
  await storeCounters(stores);
};

const storeAccounts = async ({ accounts, keys, ledger, operations }: Stores): Promise<void> => {
  const opened = { accountId: ACCOUNT, chatId: CHAT, key: keyOf(KEY_HASH), creditPicos: 5_000_000_000_000n, atMs: AT };
  await accounts.open(opened);
  await accounts.setLanguage(CHAT, 'ru');
  await accounts.setChatClosed(CHAT, true);
  await accounts.markNoticed(CHAT, 7);
  await accounts.setThreshold(ACCOUNT, 2_000_000_000_000n);
  await keys.replaceKey({ accountId: ACCOUNT, oldHash: KEY_HASH, key: keyOf(NEW_KEY_HASH), atMs: AT + 5 });
  await keys.markShown(ACCOUNT, NEW_KEY_HASH);
  await keys.take(NEW_KEY_HASH, BUCKET, () => AT * 1_000);
  await ledger.createAccount(BLOCKED, AT);
  await accounts.setBlocked(BLOCKED, true, undefined);
  const operation = {
    accountId: ACCOUNT,
    id: REQUESTS[0]!,
    command: 'credit',
    reason: 'by mistake',
    ref: 'r-1',
    at: AT,
  };
  await operations.add(operation);
};

const storeMoney = async ({ ledger, outbox }: Stores): Promise<void> => {
  const given = { accountId: ACCOUNT, ref: 'payment-1', amountPicos: 90_071_992_547_409_930n, reason: 'card', at: AT };
  await ledger.credit(given);
  for (const holdId of [OPEN, SETTLED, RELEASED, WAITING]) {
    const times = { expiresAtMs: AT + 900_500, sweepAtMs: AT + 300_000, previousHoldId: undefined };
    await ledger.hold({ accountId: ACCOUNT, holdId, amountPicos: 2_500_000_001n, ...times });
  }
  await ledger.putRecord(full(SETTLED));
  await ledger.apply(full(SETTLED), 2_500_000_001n, AT);
  await ledger.putRecord(released(RELEASED));
  await ledger.apply(released(RELEASED), 2_500_000_001n, AT);
  await ledger.reschedule(ACCOUNT, AT + 400_000, AT + 300_000);
  await outbox.put({ record: full(WAITING), holdAmountPicos: 2_500_000_001n });
};

const storePacked = async (stores: Stores): Promise<void> => {
  const { packed, keys, records, maintenance, answers, media } = stores;
  await packed.createAccount(PACKED, AT);
  const given = { accountId: PACKED, reason: 'card', at: AT };
  await packed.credit({ ...given, ref: 'payment-2', amountPicos: 5_000_000_000_000n });
  for (const holdId of [...PACKED_HOLDS, PACKED_CHARGE]) {
    const times = { expiresAtMs: AT + 900_500, sweepAtMs: AT + 300_000, previousHoldId: undefined };
    await packed.hold({ accountId: PACKED, holdId, amountPicos: 2_500_000_001n, ...times });
  }
  const charge = { ...full(PACKED_CHARGE), accountId: PACKED, costPicos: 9_000_000_000n };
  await packed.putRecord(charge);
  await packed.apply(charge, 2_500_000_001n, AT);
  await storeReturns(stores);
  await keys.putFirstKey(PACKED, keyOf(PACKED_HASH), AT);
  await keys.raiseFactor(PACKED_HASH, { factor: 1.25, atMs: AT });
  await keys.setAllowance(PACKED_HASH, { picos: 2_000_000_000_000n, atMs: AT });
  await records.keepCharges(PACKED, '2026-11', await sumsOf(stores), undefined);
  await maintenance.write('off');
  await answers.put(SETTLED, '{"ok":true}');
  await media.put('one.png', Buffer.from('png'), 'image/png');
};

/** The second write is in the next month, and closes the first one. */
const storeReturns = async ({ packed }: Stores): Promise<void> => {
  const target = { creditRef: 'payment-2', creditAmountPicos: 5_000_000_000_000n };
  const refund = { accountId: PACKED, type: 'refund', of: 'payment-2', target, reason: 'refund' } as const;
  await packed.credit({ ...refund, ref: 'refund-1', amountPicos: 1_000_000_000_000n, at: AT });
  await packed.credit({ ...refund, ref: 'refund-2', amountPicos: 500_000_000_000n, at: AT + 10 * DAY_MS });
  const uncollected = { uncollectedPicos: 7_000_000n, usesAllowance: true, allowancePicos: 1_000_000n };
  const gone = { ...released(PACKED_GONE), accountId: PACKED, ...uncollected };
  const times = { expiresAtMs: AT + 11 * DAY_MS, sweepAtMs: AT + 11 * DAY_MS, previousHoldId: undefined };
  await packed.hold({ accountId: PACKED, holdId: PACKED_GONE, amountPicos: 1_000_000n, ...times });
  await packed.putRecord(gone);
  await packed.apply(gone, 1_000_000n, AT + 10 * DAY_MS);
};

/** Stores a named API key with every restriction, and an open hold and a late charge in its cap. */
const storeCapped = async ({ packed, keys, records }: Stores): Promise<void> => {
  const [first, hash] = CAPPED_HASHES;
  await packed.createAccount(CAPPED, AT);
  await packed.credit({ accountId: CAPPED, ref: 'payment-3', amountPicos: 9_000_000_000_000n, reason: 'card', at: AT });
  await keys.putFirstKey(CAPPED, keyOf(first), AT);
  const before = (await packed.readAccount(CAPPED)) as Account;
  const keyId = keyIdOf(hash);
  const after = changeCap(before, keyId, { limitPicos: 7_000_000_000n, kind: 'day' }, AT);
  const cap = keyCapOf(after.caps, keyId);
  const limits = { expiresAtMs: AT + DAY_MS, models: ['gpt-5.4'], rate: 2.5, ...(cap && { cap }) };
  const named: NamedKey = {
    ...{ hash, label: keyOf(hash).label, name: 'Web site ✓', manage: false },
    ...{ version: 1, createdAtMs: AT, limits },
  };
  const ring = await keys.ring(CAPPED);
  await keys.changeRing({
    accountId: CAPPED,
    before: ring,
    after: { firstProperties: { ...ring.firstProperties, name: 'Main' }, named: [named] },
    key: { kind: 'add', key: keyOf(hash), limits, factor: { factor: 1.5, atMs: AT } },
    account: { before, after, nowMs: AT },
  });
  const holdCap: HoldCap = { keyId, period: after.caps.get(keyId)?.period ?? '' };
  for (const holdId of CAPPED_HOLDS) {
    const times = { expiresAtMs: AT + 900_500, sweepAtMs: AT + 300_000, previousHoldId: undefined };
    await packed.hold({ accountId: CAPPED, holdId, amountPicos: 2_500_000_001n, cap: holdCap, ...times });
  }
  const facts = { keyId, endpoint: '/v1/responses', provider: 'openai', firstByteMs: 120, totalMs: 900 };
  const charge = { ...full(CAPPED_HOLDS[1]), accountId: CAPPED, cap: holdCap, ...facts, amountPicos: 1_000_000n };
  await records.countTo(CAPPED, `${charge.holdId}!`);
  await packed.putRecord(charge);
  await packed.apply(charge, 2_500_000_001n, AT);
  const sums = { requests: 1, amountPicos: 1_000_000n, inputTokens: 40, outputTokens: 10 };
  const cell = { ...sums, model: 'gpt-5.4', keyId, endUser: 'user-ü' };
  await records.keepUsageSums(CAPPED, [{ period: '2026-11-22', cells: [cell], revision: 1 }]);
};

const sumsOf = async ({ records }: Stores) => {
  const { records: all } = await records.listRecords(PACKED, { limit: 10 });
  const sums = all.map(({ model, amountPicos }) => ({ model, requests: 1, amountPicos }));
  return { models: sums, beforeHoldId: PACKED_CHARGE };
};

const storeClaims = async ({ claims }: Stores): Promise<void> => {
  const [open, staged, done, freed] = CLAIMS.map((keyHash) => ({ accountId: ACCOUNT, keyHash }));
  const owner = REQUESTS[0]!;
  const times = { nowMs: AT, leaseUntilMs: AT + 60_000, expiresAtMs: AT + DAY_MS };
  for (const ref of [open!, staged!, done!, freed!]) {
    await claims.claim({ ...ref, owner, fingerprint: 'f'.repeat(64), dispatchesMax: 6, ...times });
  }
  const headers = { 'content-type': 'application/json' };
  const inline = { status: 200, headers, body: '{"ok":true}' };
  await claims.stageResponse(staged!, owner, { holdId: SETTLED, hash: 'c'.repeat(64), content: inline }, AT + DAY_MS);
  const large = { holdId: SETTLED, hash: 'd'.repeat(64), content: { objectName: SETTLED } };
  await claims.stageResponse(done!, owner, large, AT + DAY_MS);
  await claims.complete(done!, owner);
  await claims.free(freed!, owner, 1);
};

const storeVideos = async ({ videos, webhookSecrets }: Stores): Promise<void> => {
  const [queued = '', completed = '', failed = '', refused = '', removed = '', abandoned = ''] = VIDEOS;
  const failure = { code: 'upstream_error', message: 'The provider failed.' } as const;
  for (const [index, id] of [queued, completed, failed, refused, removed].entries()) {
    await videos.create(
      {
        id,
        accountId: ACCOUNT,
        requestId: id.slice('video_'.length),
        holdId: `${id.slice('video_'.length)}.0`,
        holdAmountPicos: 1_000_000n,
        modelId: 'sora-2',
        providerId: 'openai',
        wire: 'openai_videos',
        upstreamModel: 'sora-2',
        prompt: 'A boat',
        seconds: 4,
        width: 1_280,
        height: 720,
        createdAtMs: AT + index,
        terms: { unit: index === 1 ? 'token' : 'second', ratePicos: 100_000n, unitsMax: 4 },
        ...(index === 0 && { webhook: { url: 'https://example.com/hook', secret: 'whsec' } }),
      },
      AT + 60_000,
    );
  }
  await videos.setUpstream(completed, 'up-1', '0123456789abcdef');
  await videos.advance(completed, 50.5);
  await videos.noteFile(completed, { name: 'videos/one', bytes: 3, sha256: 'e'.repeat(64) }, 1_000.5);
  await videos.noteFailure(failed, failure);
  await videos.end(failed, { state: 'failed', failure });
  const delivery = {
    attempts: 1,
    lastAtMs: AT,
    status: 500,
    problem: 'the server returned 500.',
    nextAtMs: AT + 10_000,
  };
  await videos.noteDelivery(failed, delivery);
  await webhookSecrets.put(ACCOUNT, { version: 1, secret: 'whsec_1', createdAtMs: AT });
  const previous = { secret: 'whsec_1', untilMs: AT + DAY_MS };
  await webhookSecrets.put(ACCOUNT, { version: 2, secret: 'whsec_2', createdAtMs: AT, previous });
  await videos.refuse(refused, failure);
  await videos.end(removed, { state: 'completed', completedAtMs: AT });
  await videos.remove(removed);
  await videos.abandon(abandoned);
};

const storeCounters = async ({ circuits, counters, cursor, updates }: Stores): Promise<void> => {
  await counters.take('192.0.2.1', BUCKET, () => AT * 1_000);
  await cursor.write('account#account-1\nACCOUNT');
  await updates.claim('update#1', AT);
  await updates.claim('update#2', AT);
  await updates.finish('update#2', AT);
  await circuits.count(CIRCUIT, { startMs: AT, failures: 2, successes: 3, accounts: ['h1', 'h2'] }, AT + DAY_MS);
  await circuits.open(CIRCUIT, { openUntilMs: AT + 30_000, openings: 1, goodProbes: 0 }, AT, AT + DAY_MS);
  await circuits.lease(CIRCUIT, { owner: 'p', leaseUntilMs: AT + 90_000 }, AT + 31_000);
  await circuits.countMissing('gpt-5.4', 'h1', AT, AT + DAY_MS);
  await circuits.quarantine('gpt-5.4', AT + 60_000, AT);
};

/** Reads all of it through the stores. */
export const readEverything = async (stores: Stores) => ({
  accounts: await Promise.all([ACCOUNT, BLOCKED, PACKED].map((id) => stores.ledger.readAccount(id))),
  due: await stores.ledger.due(AT + DAY_MS),
  records: await stores.records.listRecords(ACCOUNT, { limit: 10 }),
  credits: await stores.records.readCredits(ACCOUNT),
  capped: await stores.ledger.readAccount(CAPPED),
  cappedRecords: await stores.records.listRecords(CAPPED, { limit: 10 }),
  cappedKeys: await Promise.all(CAPPED_HASHES.map((hash) => stores.keys.read(hash))),
  ring: await stores.keys.ring(CAPPED),
  usageSums: await stores.records.usageSums(CAPPED, '2026-11-22', '2026-11-22'),
  lateCharges: await stores.records.lateCharges(CAPPED, 10),
  packedRecords: await stores.records.listRecords(PACKED, { limit: 10 }),
  packedCredits: await stores.records.readCredits(PACKED),
  closings: await stores.records.closings(PACKED, '2026-12', 10),
  monthCredits: await stores.records.creditsOfMonth(PACKED, '2026-11'),
  monthCharges: await stores.records.readCharges(PACKED, '2026-11'),
  maintenance: await stores.maintenance.read(),
  answer: await stores.answers.get(SETTLED),
  operations: await stores.operations.list(ACCOUNT),
  cursor: await stores.cursor.read(),
  chat: await stores.accounts.chat(CHAT),
  profile: await stores.accounts.profile(ACCOUNT),
  keys: await Promise.all([KEY_HASH, NEW_KEY_HASH, PACKED_HASH].map((hash) => stores.keys.read(hash))),
  currentKey: await stores.keys.currentKey(ACCOUNT),
  claims: await Promise.all(CLAIMS.map((keyHash) => stores.claims.read({ accountId: ACCOUNT, keyHash }))),
  videos: await Promise.all(VIDEOS.map((id) => stores.videos.read(id))),
  videoPlaces: await Promise.all(VIDEOS.map((id) => stores.videos.locate(id))),
  videoList: await stores.videos.list(ACCOUNT, { limit: 10, newestFirst: false }),
  dueVideos: (await stores.videos.due(AT + DAY_MS)).toSorted(),
  webhookSecret: await stores.webhookSecrets.read(ACCOUNT),
  circuit: await stores.circuits.read(CIRCUIT, [AT], AT),
  missing: (await stores.circuits.readMissing('gpt-5.4', [AT])).count,
  waiting: await stores.outbox.read(WAITING),
});

/** Reads all tables and objects as they are stored. */
export const dump = async ({ clients, names }: TestTables, objects: Record<string, string>): Promise<Stored> => {
  const tables: Record<string, object[]> = {};
  for (const [name, table] of Object.entries(names)) {
    const { Items = [] } = await clients.repeating.send(new ScanCommand({ TableName: table }));
    const keyed = Items.map((item) => [`${item.pk?.S} ${item.sk?.S ?? ''}`, sorted(item)] as const);
    tables[name] = keyed.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
  }
  return { tables, objects };
};

/** Sorts members by name, and sets, whose order DynamoDB does not keep. */
const sorted = (value: unknown): object => JSON.parse(JSON.stringify(value, inOrder));

const inOrder = (name: string, value: unknown): unknown => {
  if (name === 'SS' && Array.isArray(value)) return value.toSorted();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
};
