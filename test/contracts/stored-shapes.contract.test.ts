import { readdirSync, readFileSync } from 'node:fs';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { hasDynamodb, openTestTables } from '../support/dynamodb.ts';
import {
  ACCOUNT,
  dump,
  OPEN,
  openStores,
  RELEASED,
  readEverything,
  SETTLED,
  type Stored,
  storeEverything,
  WAITING,
} from './stored-shapes.ts';

const FOLDER = 'test/fixtures/stored';
/** What each release stored, by the date of the release; the latest is last. */
const releases = readdirSync(FOLDER).toSorted();
const latest = releases.at(-1) ?? '';
const storedBy = (release: string): Stored => JSON.parse(readFileSync(`${FOLDER}/${release}`, 'utf8'));

const writeNow = async () => {
  const tables = await openTestTables();
  const objects: Record<string, string> = {};
  const stores = openStores(tables, objects);
  await storeEverything(stores);
  return { stores, stored: await dump(tables, objects) };
};

/** Opens the stores on what a release stored. */
const openOn = (release: string) => openOnData(storedBy(release));

const openOnData = async (stored: Stored) => {
  const tables = await openTestTables();
  for (const [name, items] of Object.entries(stored.tables)) {
    const TableName = tables.names[name as keyof typeof tables.names];
    for (const Item of items) await tables.clients.repeating.send(new PutItemCommand({ TableName, Item: { ...Item } }));
  }
  return openStores(tables, { ...stored.objects });
};

/** Replaces text in all data. Throws an Error if one of the texts does not occur. */
const replaced = (stored: Stored, changes: readonly (readonly [string, string])[]): Stored => {
  let text = JSON.stringify(stored);
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`no ${from} is stored`);
    text = text.replaceAll(from, to);
  }
  return JSON.parse(text);
};

/** The first release did not record ignored fields. */
const withoutIgnored = ({ ignored: _, ...record }: ChargeRecord): ChargeRecord => record;

describe.skipIf(!hasDynamodb)('data of earlier releases', () => {
  let now: Awaited<ReturnType<typeof writeNow>>;
  beforeAll(async () => {
    now = await writeNow();
  });

  test.for(releases)('OPS-11 everything that release %s stored is read', async (release) => {
    const { records, ...others } = await readEverything(now.stores);
    const known = release < '2026-11-23.json' ? records.records.map(withoutIgnored) : records.records;
    expect(await readEverything(await openOn(release))).toEqual({ ...others, records: { ...records, records: known } });
  });

  test.for(releases)('BILL-13 a hold that release %s placed is closed by its amount', async (release) => {
    const { ledger } = await openOn(release);
    const before = await ledger.readAccount(ACCOUNT);
    expect([...(before?.holds.keys() ?? [])].toSorted()).toEqual([OPEN, WAITING]);
    const record = { accountId: ACCOUNT, requestId: OPEN.slice(0, -2), holdId: OPEN, at: 1 } as const;
    const charge = { ...record, outcome: 'settled', amountPicos: 1n } as const;
    expect(await ledger.apply(charge, 2_500_000_000n)).toBeUndefined();
    const after = await ledger.apply(charge, 2_500_000_001n);
    expect([after?.holds.has(OPEN), after?.availablePicos]).toEqual([false, before!.availablePicos + 2_500_000_000n]);
    for (const holdId of [SETTLED, RELEASED]) expect(await ledger.readRecord(ACCOUNT, holdId)).toBeDefined();
  });

  test('OPS-11 fields of a newer release are ignored in every item and object', async () => {
    const future = { M: { odd: { L: [{ NULL: true }] } } };
    const stored = storedBy(latest);
    const items = Object.entries(stored.tables).map(([name, all]) => [name, all.map((item) => ({ ...item, future }))]);
    const notes = Object.entries(stored.objects).map(([name, text]) => [name, text.replace('{', '{"future":{},')]);
    const newer = { tables: Object.fromEntries(items), objects: Object.fromEntries(notes) };
    expect(await readEverything(await openOnData(newer))).toEqual(await readEverything(now.stores));
  });

  test('OPS-11 values of a newer release have a safe meaning', async () => {
    const stores = await openOnData(
      replaced(storedBy(latest), [
        ['"status":{"S":"active"}', '"status":{"S":"frozen"}'],
        ['"outcome":{"S":"settled"}', '"outcome":{"S":"settled_in_part"}'],
        ['"outcome":{"S":"released"}', '"outcome":{"S":"voided"}'],
        ['"state":{"S":"open"}', '"state":{"S":"streaming"}'],
        ['\\"outcome\\":\\"settled\\"', '\\"outcome\\":\\"settled_in_part\\"'],
      ]),
    );
    const { accounts, records, claims, keys, waiting } = await readEverything(stores);
    const expected = await readEverything(now.stores);
    expect(accounts.map((account) => account?.status)).toEqual(['blocked', 'blocked']);
    expect(keys.map((key) => key?.status)).toEqual(['revoked', 'revoked']);
    expect([records, waiting]).toEqual([expected.records, expected.waiting]);
    // Nothing takes the claim over before it expires.
    expect(claims[0]).toMatchObject({ state: 'open', leaseUntilMs: claims[0]?.expiresAtMs });
  });

  test('OPS-11 with HOLD_FORMAT=map, the latest release can read everything that is stored now', () => {
    // Equal data is readable data. Data of a new kind needs an own test, and a reader that is one release older.
    expect(now.stored).toEqual(storedBy(latest));
  });
});
