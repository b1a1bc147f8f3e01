import { beforeAll, describe, expect, test } from 'vitest';
import { statementProblems } from '../../lambdas/core/ledger/audit-statements.ts';
import { balanceOf, heldOf } from '../../lambdas/core/ledger/ledger.ts';
import {
  fillTables,
  NEXT,
  readers,
  releases,
  storedBy,
  storeNow,
  storesOf,
  withAttribute,
} from '../releases/release.ts';
import { hasDynamodb } from '../support/dynamodb.ts';
import { changeEverything } from './change-everything.ts';
import { dump, openStores, PACKED_HOLDS, readEverything, type Stored } from './stored-shapes.ts';

type Everything = Awaited<ReturnType<typeof readEverything>>;

/** Replaces amounts and maps, which do not compare by subset. Members that are undefined are left out. */
const toPlain = (read: unknown): object =>
  JSON.parse(
    JSON.stringify(read, (_name, value: unknown) => {
      if (typeof value === 'bigint') return `${value} pico-USD`;
      return value instanceof Map ? Object.fromEntries(value) : value;
    }),
  );

const readNow = async (stored: Stored): Promise<Everything> =>
  readEverything(openStores(await fillTables(stored), { ...stored.objects }));

/** Reads data with the stores of a release. Its result lacks what that release does not have. */
const readAs = async (release: string, stored: Stored): Promise<Everything> => {
  const then = await storesOf(release);
  return then.readEverything(then.openStores(await fillTables(stored), { ...stored.objects }));
};

/** Money and states of the first account, which every release stores. */
const meaningOf = ({ accounts: [account, blocked], records, keys, claims, videos, waiting }: Everything) => ({
  balance: account && balanceOf(account),
  available: account?.availablePicos,
  held: account && heldOf(account),
  holds: [...(account?.holds.values() ?? [])].map(({ amountPicos }) => amountPicos),
  statuses: [account?.status, blocked?.status],
  charges: records.records.map(({ outcome, amountPicos }) => [outcome, amountPicos]),
  keys: keys.slice(0, 2).map((key) => key?.status),
  claims: claims.map((claim) => claim?.state),
  videos: videos.map((video) => video?.state),
  waiting: waiting && [waiting.record.amountPicos, waiting.holdAmountPicos],
});

const MEANING: ReturnType<typeof meaningOf> = {
  balance: 90_076_980_201_731_029n,
  available: 90_076_975_201_731_027n,
  held: 5_000_000_002n,
  holds: [2_500_000_001n, 2_500_000_001n],
  statuses: ['active', 'blocked'],
  charges: [
    ['released', 0n],
    ['settled', 12_345_678_901n],
  ],
  keys: ['revoked', 'active'],
  claims: ['open', 'prepared', 'done', 'free'],
  videos: ['queued', 'in_progress', 'failed', 'failed', undefined, undefined],
  waiting: [12_345_678_901n, 2_500_000_001n],
};

/** Account with packed holds, which release 0.1.0 does not have. */
const packedMeaningOf = ({ accounts: [, , account], packedRecords, packedCredits }: Everything) => ({
  balance: account && balanceOf(account),
  available: account?.availablePicos,
  holds: [...(account?.holds ?? [])].toSorted().map(([holdId, { amountPicos }]) => [holdId, amountPicos]),
  charges: packedRecords.records.map(({ outcome, amountPicos, costPicos }) => [outcome, amountPicos, costPicos]),
  credits: packedCredits.map(({ type, amountPicos }) => [type, amountPicos]),
});

const PACKED_MEANING: ReturnType<typeof packedMeaningOf> = {
  balance: 3_487_654_321_099n,
  available: 3_482_654_321_097n,
  holds: PACKED_HOLDS.map((holdId) => [holdId, 2_500_000_001n]),
  charges: [
    ['released', 0n, undefined],
    ['settled', 12_345_678_901n, 9_000_000_000n],
  ],
  credits: [
    ['credit', 5_000_000_000_000n],
    ['refund', 1_000_000_000_000n],
    ['refund', 500_000_000_000n],
  ],
};

const keysOf = ({ tables }: Stored): ReadonlyMap<string, object> =>
  new Map(
    Object.entries(tables).flatMap(([table, items]) =>
      items.map((item) => {
        const { pk, sk } = item as { pk: object; sk?: object };
        return [JSON.stringify([table, pk, sk]), item] as const;
      }),
    ),
  );

describe.skipIf(!hasDynamodb)('data of two releases', () => {
  let next: Stored;
  let now: Awaited<ReturnType<typeof storeNow>>;
  beforeAll(async () => {
    next = storedBy(NEXT);
    now = await storeNow();
  });

  test('OPS-17 the fixtures of the next release have every stored shape', () => {
    // After a change of a stored shape, `npm run release:fixtures` writes them again.
    expect(now.stored).toEqual(next);
  });

  test.for(releases)('OPS-17 the present readers read what release %s stored', async (release) => {
    const read = await readNow(storedBy(release));
    expect(meaningOf(read)).toEqual(MEANING);
  });

  test.for(readers)('OPS-17 the present readers read data of %s as its own readers do', async (release) => {
    const stored = storedBy(release);
    expect(packedMeaningOf(await readNow(stored))).toEqual(PACKED_MEANING);
    expect(toPlain(await readNow(stored))).toMatchObject(toPlain(await readAs(release, stored)));
  });

  test.for(readers)('OPS-17 the readers of release %s read what is stored now', async (release) => {
    const then = await readAs(release, next);
    expect([meaningOf(then), packedMeaningOf(then)]).toEqual([MEANING, PACKED_MEANING]);
    expect(toPlain(await readNow(next))).toMatchObject(toPlain(then));
  });

  test.for([...readers, NEXT])('OPS-17 changes by release %s keep attributes that it cannot read', async (release) => {
    const stored = withAttribute(next, { future: { S: 'kept' } });
    const tables = await fillTables(stored);
    const objects = { ...stored.objects };
    const { openStores: open } = release === NEXT ? { openStores } : await storesOf(release);
    await changeEverything(open(tables, objects));
    const after = keysOf(await dump(tables, objects));
    const before = keysOf(stored);
    const lost = [...before].filter(([key]) => !('future' in (after.get(key) ?? {}))).map(([key]) => key);
    const changed = [...before].filter(([key, item]) => JSON.stringify(after.get(key)) !== JSON.stringify(item));
    expect(lost).toEqual([]);
    expect(changed.length).toBeGreaterThan(5);
    // Each account was charged 1 pico-USD and credited 5, and a month that an older release saw has no audit finding.
    const read = await readNow(await dump(tables, objects));
    const balances = read.accounts.map((account) => account && balanceOf(account));
    expect(balances).toEqual([MEANING.balance! + 4n, 0n, PACKED_MEANING.balance! + 4n]);
    expect(statementProblems(read.accounts[2]!, read.closings, read.packedCredits)).toEqual([]);
  });
});
