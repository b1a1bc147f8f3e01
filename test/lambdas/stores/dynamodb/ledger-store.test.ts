import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import type { DynamoDB, UpdateRequest, Write, WriteResult } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import { packedKeyOf, toHoldEntry } from '../../../../lambdas/stores/dynamodb/hold-entries.ts';
import { newAccountItem } from '../../../../lambdas/stores/dynamodb/ledger-items.ts';
import { createLedgerStore } from '../../../../lambdas/stores/dynamodb/ledger-store.ts';

const AT = Date.UTC(2026, 10, 1);
const requestId = renderRequestId({ atMs: AT, random: 7 });
const holdId = `${requestId}.0`;
const record: ChargeRecord = { accountId: 'one', holdId, requestId, outcome: 'settled', amountPicos: 25n, at: AT };
const { key, value } = toHoldEntry(holdId, { amountPicos: 40n, expiresAtMs: AT + 1_000 }, 'packed');
const item = {
  ...newAccountItem('one', AT),
  available: 60n,
  credited: 100n,
  spent: 0n,
  version: 3n,
  holds: { [key]: value },
};

/** A store whose fast write fails its condition, although the item has the open hold. */
const slow = (
  reply: WriteResult,
  fast: (request: UpdateRequest) => WriteResult = () => ({ conditionFailed: item }),
) => {
  const sent: UpdateRequest[] = [];
  const unused = (): never => {
    throw new Error('not expected');
  };
  const db: DynamoDB = {
    get: unused,
    put: unused,
    delete: unused,
    query: unused,
    scan: unused,
    batchGet: unused,
    transact: unused,
    update: async (request) => {
      sent.push(request);
      return reply;
    },
    hot: { put: unused, update: async (request) => fast(request) },
  };
  return { sent, db, store: createLedgerStore({ once: db, repeating: db }, 'accounts') };
};

test('BILL-13 an open hold whose fast write fails is closed by the version that was read', async () => {
  const { sent, store } = slow({ written: {} });
  const after = await store.apply(record, 40n, AT);
  expect(after).toMatchObject({ availablePicos: 75n, spentPicos: 25n, version: 4, holds: new Map() });
  expect(sent).toMatchObject([
    {
      condition: 'version = :before',
      values: { ':available': 75n, ':spent': 25n, ':before': 3, ':after': 4 },
    },
  ]);
  expect(Object.values(sent[0]?.names ?? {})).toEqual([holdId, packedKeyOf(holdId), 'month']);
});

test('BILL-13 a slow write that another write precedes is a conflict, which is safe to repeat', async () => {
  const { store } = slow({ conditionFailed: undefined });
  await expect(store.apply(record, 40n, AT)).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
});

test('BILL-13 a hold of another amount is not written', async () => {
  const { sent, store } = slow({ written: {} });
  expect(await store.apply(record, 41n, AT)).toBeUndefined();
  expect(sent).toEqual([]);
});

test('BILL-23 a late charge takes one transaction more, and a release has no condition on it', async () => {
  const fast: UpdateRequest[] = [];
  const transactions: (readonly Write[])[] = [];
  const late = { ...item, countedToId: `${requestId}.1` };
  const unused = slow({ written: {} });
  const db: DynamoDB = {
    ...unused.db,
    hot: {
      ...unused.db.hot,
      update: async (request) => {
        fast.push(request);
        return { conditionFailed: late };
      },
    },
    transact: async (writes) => {
      transactions.push(writes);
      return undefined;
    },
  };
  const store = createLedgerStore({ once: db, repeating: db }, 'accounts');
  const after = await store.apply(record, 40n, AT);
  expect(after).toMatchObject({ availablePicos: 75n, spentPicos: 25n, version: 4, holds: new Map() });
  const condition = '(attribute_not_exists(countedToId) OR countedToId <= :holdId) AND ';
  expect(fast).toMatchObject([{ condition: expect.stringContaining(condition), values: { ':holdId': holdId } }]);
  expect(transactions).toMatchObject([
    [
      { update: { condition: fast[0]?.condition?.replace(condition, ''), values: { ':charge': 25n } } },
      { put: { item: { sk: `LATE_CHARGE#${holdId}`, amount: 25n, outcome: 'settled' } } },
    ],
  ]);
  await store.apply({ ...record, outcome: 'released', amountPicos: 0n }, 41n, AT);
  expect(fast[1]?.condition).not.toContain('countedToId');
});

const uses: ChargeRecord = {
  ...record,
  outcome: 'released',
  amountPicos: 0n,
  uncollectedPicos: 7n,
  usesAllowance: true,
};

test('BILL-21 the first amount of a day is written by the version that was read', async () => {
  const { sent, store } = slow({ written: {} });
  expect((await store.apply(uses, 40n, AT))?.uncollected).toEqual({ day: '2026-11-01', picos: 7n });
  expect(sent).toMatchObject([
    { condition: 'version = :before', values: { ':day': '2026-11-01', ':uncollected': 7n, ':before': 3 } },
  ]);
});

test('BILL-21 a later amount of the day takes one write, and a charge has no condition on the day', async () => {
  const sent: UpdateRequest[] = [];
  const { store } = slow({ written: {} }, (request) => {
    sent.push(request);
    return { written: item };
  });
  await store.apply(uses, 40n, AT);
  await store.apply(record, 40n, AT);
  expect(sent.map(({ update }) => update.includes('uncollected = uncollected + :use'))).toEqual([true, false]);
  expect(sent.map(({ condition = '' }) => condition.includes('AND uncollectedDay = :today'))).toEqual([true, false]);
  expect(sent[0]?.values).toMatchObject({ ':use': 7n, ':today': '2026-11-01' });
});

const CAP = { keyId: '0123456789abcdef', period: '2:2026-11-01' };

test('KEY-9 a charge in the present period of its cap takes one write', async () => {
  const sent: UpdateRequest[] = [];
  const { store } = slow({ written: {} }, (request) => {
    sent.push(request);
    return { written: item };
  });
  await store.apply({ ...record, cap: CAP }, 40n, AT);
  await store.apply(record, 40n, AT);
  expect(sent.map(({ update }) => update.includes(', caps.#cap.#left = caps.#cap.#left + :back'))).toEqual([
    true,
    false,
  ]);
  expect(sent.map(({ condition = '' }) => condition.endsWith(' AND caps.#cap.#period = :period'))).toEqual([
    true,
    false,
  ]);
  expect(sent.map(({ values }) => values?.[':bytes'])).toEqual([14 + 8 + CAP.period.length, 14]);
  expect(sent[0]?.names).toMatchObject({ '#id': `${holdId}#cap`, '#idPacked': packedKeyOf(holdId), '#cap': CAP.keyId });
});

test('KEY-9 a charge in a kept period takes a second write, which changes what is left of it', async () => {
  const hold = toHoldEntry(holdId, { amountPicos: 40n, expiresAtMs: AT + 1_000, cap: CAP }, 'packed');
  const [epoch = '', name = ''] = CAP.period.split(':');
  const caps = { [CAP.keyId]: { limit: 70n, left: 50n, period: `${epoch}:2026-11-02`, [name]: 30n } };
  const fast: UpdateRequest[] = [];
  const { store } = slow({ written: {} }, (request) => {
    fast.push(request);
    return fast.length === 1
      ? { conditionFailed: { ...item, holds: { [hold.key]: hold.value }, caps } }
      : { written: item };
  });
  expect(await store.apply({ ...record, cap: CAP }, 40n, AT)).toMatchObject({ version: 3 });
  expect(fast[1]?.update).toContain('caps.#cap.#kept = caps.#cap.#kept + :back');
  expect(fast[1]?.names).toMatchObject({ '#kept': name });
});

test('KEY-9 BILL-23 a late charge in a kept period is one transaction that changes its rest', async () => {
  const hold = toHoldEntry(holdId, { amountPicos: 40n, expiresAtMs: AT + 1_000, cap: CAP }, 'packed');
  const [epoch = '', name = ''] = CAP.period.split(':');
  const caps = { [CAP.keyId]: { limit: 70n, left: 50n, period: `${epoch}:2026-11-02`, [name]: 30n } };
  const late = { ...item, holds: { [hold.key]: hold.value }, caps, countedToId: `${requestId}.1` };
  const { db } = slow({ written: {} }, () => ({ conditionFailed: late }));
  const written: Write[] = [];
  const transact: DynamoDB['transact'] = async (writes) => void written.push(...writes);
  const changed = { ...db, transact };
  await createLedgerStore({ once: changed, repeating: changed }, 'accounts').apply({ ...record, cap: CAP }, 40n, AT);
  const kept = expect.stringContaining('caps.#cap.#kept = caps.#cap.#kept + :back');
  expect(written).toMatchObject([{ update: { update: kept } }, { put: { item: { sk: `LATE_CHARGE#${holdId}` } } }]);
});

test('KEY-9 a charge in a forgotten period takes a second write, which leaves the cap', async () => {
  const hold = toHoldEntry(holdId, { amountPicos: 40n, expiresAtMs: AT + 1_000, cap: CAP }, 'packed');
  const holds = { [hold.key]: hold.value };
  const later = { [CAP.keyId]: { limit: 70n, left: 50n, period: '2:2026-11-02' } };
  for (const caps of [later, {}]) {
    const fast: UpdateRequest[] = [];
    const { sent, store } = slow({ written: {} }, (request) => {
      fast.push(request);
      return fast.length === 1 ? { conditionFailed: { ...item, holds, caps } } : { written: item };
    });
    expect(await store.apply({ ...record, cap: CAP }, 40n, AT)).toMatchObject({ version: 3 });
    expect([fast.length, sent.length, fast[1]?.update.includes('caps')]).toEqual([2, 0, false]);
    expect(fast[1]?.condition).toMatch(
      / OR \(caps\.#cap\.#period <> :period AND attribute_not_exists\(caps\.#cap\.#kept\)\)\)$/,
    );
  }
});

test('KEY-9 a charge in an earlier period that begins a month is written by the version, and leaves the cap', async () => {
  const hold = toHoldEntry(holdId, { amountPicos: 40n, expiresAtMs: AT + 1_000, cap: CAP }, 'packed');
  const caps = { [CAP.keyId]: { limit: 70n, left: 50n, period: '2:2026-11-02' } };
  const later = { ...item, holds: { [hold.key]: hold.value }, caps };
  const { sent, store } = slow({ written: {} }, () => ({ conditionFailed: later }));
  const after = await store.apply({ ...record, cap: CAP }, 40n, AT);
  expect([after?.availablePicos, after?.caps.get(CAP.keyId)?.leftPicos]).toEqual([75n, 50n]);
  expect(sent).toMatchObject([{ condition: 'version = :before' }]);
  expect(sent[0]?.update).not.toContain('caps');
});
