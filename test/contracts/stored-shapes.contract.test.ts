import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { toHoldEntry } from '../../lambdas/stores/dynamodb/hold-entries.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { fillTables, releases, storedBy, storeNow, withAttribute } from '../releases/release.ts';
import { hasDynamodb, openTestTables } from '../support/dynamodb.ts';
import {
  ACCOUNT,
  AT,
  DAY_MS,
  OPEN,
  openStores,
  RELEASED,
  readEverything,
  SETTLED,
  type Stored,
  VIDEOS,
  WAITING,
} from './stored-shapes.ts';

/** Opens the stores on what a release stored. */
const openOn = (release: string) => openOnData(storedBy(release));

const openOnData = async (stored: Stored) => openStores(await fillTables(stored), { ...stored.objects });

/** Replaces text in all data. Throws an Error if one of the texts does not occur. */
const replaced = (stored: Stored, changes: readonly (readonly [string, string])[]): Stored => {
  let text = JSON.stringify(stored);
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`no ${from} is stored`);
    text = text.replaceAll(from, to);
  }
  return JSON.parse(text);
};

describe.skipIf(!hasDynamodb)('data of earlier releases', () => {
  let now: Awaited<ReturnType<typeof storeNow>>;
  beforeAll(async () => {
    now = await storeNow();
  });

  test.for(releases)('BILL-13 a hold that release %s placed is closed by its amount', async (release) => {
    const { ledger } = await openOn(release);
    const before = await ledger.readAccount(ACCOUNT);
    expect([...(before?.holds.keys() ?? [])].toSorted()).toEqual([OPEN, WAITING]);
    const record = { accountId: ACCOUNT, requestId: OPEN.slice(0, -2), holdId: OPEN, at: 1 } as const;
    const charge = { ...record, outcome: 'settled', amountPicos: 1n } as const;
    expect(await ledger.apply(charge, 2_500_000_000n, 0)).toBeUndefined();
    const after = await ledger.apply(charge, 2_500_000_001n, 0);
    expect([after?.holds.has(OPEN), after?.availablePicos]).toEqual([false, before!.availablePicos + 2_500_000_000n]);
    for (const holdId of [SETTLED, RELEASED]) expect(await ledger.readRecord(ACCOUNT, holdId)).toBeDefined();
  });

  test('OPS-11 fields of a newer release are ignored in every item', async () => {
    const future = { M: { odd: { L: [{ NULL: true }] } } };
    const newer = withAttribute(now.stored, { future });
    expect(await readEverything(await openOnData(newer))).toEqual(await readEverything(now.stores));
  });

  test('OPS-11 values of a newer release have a safe meaning', async () => {
    const stores = await openOnData(
      replaced(now.stored, [
        ['"status":{"S":"active"}', '"status":{"S":"frozen"}'],
        ['"outcome":{"S":"settled"}', '"outcome":{"S":"settled_in_part"}'],
        ['"outcome":{"S":"released"}', '"outcome":{"S":"voided"}'],
        ['"state":{"S":"open"}', '"state":{"S":"streaming"}'],
      ]),
    );
    const { accounts, records, claims, keys } = await readEverything(stores);
    const expected = await readEverything(now.stores);
    const [released, settled] = expected.records.records;
    expect(accounts.map((account) => account?.status)).toEqual(['blocked', 'blocked', 'blocked']);
    expect(keys.map((key) => key?.status)).toEqual(['revoked', 'revoked', 'revoked']);
    expect(records.records).toEqual([
      { ...released, outcome: 'settled', newerOutcome: 'voided' },
      { ...settled, outcome: 'settled', newerOutcome: 'settled_in_part' },
    ]);
    // Nothing takes the claim over before it expires.
    expect(claims[0]).toMatchObject({ state: 'unknown', leaseUntilMs: claims[0]?.expiresAtMs });
  });

  test.for([
    ['state', '"state":{"S":"queued"}', '"state":{"S":"paused"}'],
    ['unit', '"unit":{"S":"second"}', '"unit":{"S":"mile"}'],
  ] as const)('OPS-11 a video with a %s of a newer release is left to it', async ([name, from, to]) => {
    const { videos } = await openOnData(replaced(now.stored, [[from, to]]));
    const expected = (await now.stores.videos.list(ACCOUNT, { limit: 10, newestFirst: false })).jobs;
    const isNewer = (id: string) => (name === 'unit' ? id !== VIDEOS[1] : id === VIDEOS[0]);
    const failure = { code: 'upstream_error', message: 'gone' } as const;
    const listed = await videos.list(ACCOUNT, { limit: 10, newestFirst: false });
    expect(listed.jobs).toEqual(expected.filter(({ id }) => !isNewer(id)));
    // A page of unreadable videos does not end the list.
    const [first] = (await videos.list(ACCOUNT, { limit: 1, newestFirst: false })).jobs;
    expect(first?.id).toBe(VIDEOS[1]);
    const [newer = ''] = VIDEOS;
    expect(await videos.due(AT + DAY_MS)).toContain(newer);
    for (const read of [() => videos.read(newer), () => videos.abandon(newer)])
      await expect(read()).rejects.toThrow(`video#${newer}: the ${name} "${name === 'unit' ? 'mile' : 'paused'}"`);
    if (name === 'unit') return;
    expect(await videos.noteFailure(newer, failure)).toBe(false);
    await expect(videos.end(newer, { state: 'failed', failure })).rejects.toThrow('newer release');
  });

  test('OPS-11 an outbox entry with values of a newer release is left to it', async () => {
    const settled = '\\"outcome\\":\\"settled\\"';
    const changed = replaced(now.stored, [[settled, settled.replace('settled', 'settled_in_part')]]);
    await expect((await openOnData(changed)).outbox.read(WAITING)).rejects.toThrow(`outbox/${WAITING}`);
  });

  test('OPS-11 a hold with bytes of a newer release stays open', async () => {
    const tables = await openTestTables();
    const ledger = createLedgerStore(createDatabases(tables.clients), tables.names.accounts);
    await ledger.createAccount('newer', 0);
    await ledger.credit({ accountId: 'newer', ref: 'r', amountPicos: 100n, reason: 'test', at: AT });
    const holdId = `${renderRequestId({ atMs: AT, random: 7 })}.0`;
    const order = { accountId: 'newer', holdId, amountPicos: 40n, expiresAtMs: AT + 900_000 };
    await ledger.hold({ ...order, sweepAtMs: AT, previousHoldId: undefined });
    const { key, value } = toHoldEntry(holdId, order, 'packed');
    const change = (bytes: Uint8Array) =>
      tables.clients.repeating.send(
        new UpdateItemCommand({
          TableName: tables.names.accounts,
          Key: { pk: { S: 'account#newer' }, sk: { S: 'ACCOUNT' } },
          UpdateExpression: 'SET holds.#key = :value',
          ExpressionAttributeNames: { '#key': key },
          ExpressionAttributeValues: { ':value': { B: bytes } },
        }),
      );
    const record = { accountId: 'newer', requestId: holdId.slice(0, -2), holdId, at: AT } as const;
    const released = { ...record, outcome: 'released', amountPicos: 0n } as const;
    await change(Buffer.concat([value as Uint8Array, Buffer.from('cap')]));
    expect(await ledger.apply(released, 40n, 0)).toBeUndefined();
    const open = await ledger.readAccount('newer');
    expect([open?.availablePicos, open?.holds.get(holdId)]).toEqual([
      60n,
      { amountPicos: 40n, expiresAtMs: AT + 900_000, isNewer: true },
    ]);
    await change(value as Uint8Array);
    const otherId = `${renderRequestId({ atMs: AT + 4, random: 7 })}.0`;
    expect(await ledger.apply({ ...released, holdId: otherId }, 40n, 0)).toBeUndefined();
    expect((await ledger.apply(released, 40n, 0))?.availablePicos).toBe(100n);
  });
});
