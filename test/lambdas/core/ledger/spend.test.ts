import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { sumRecent, sumSpend } from '../../../../lambdas/core/ledger/spend.ts';
import { withRecordFaults } from '../../../support/memory/faults.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { ID, settledRecord } from './ledger-scene.ts';

const runs = randomRuns(import.meta.filename, { quick: 50, long: 2_000 });

const charged = (holdId: string, amountPicos = 5n, model = 'alpha-1'): ChargeRecord => ({
  ...settledRecord(holdId, amountPicos, 0),
  model,
});
const released = (holdId: string, reason: string): ChargeRecord => ({
  ...settledRecord(holdId, 0n, 0),
  outcome: 'released',
  reason,
});
const stored = async (records: readonly ChargeRecord[]): Promise<MemoryLedgerStore> => {
  const memory = new MemoryLedgerStore();
  for (const record of records) await memory.putRecord(record);
  return memory;
};

/** Returns the day of a request. In these tests it is the first letter of the id. */
const dayOf = (requestId: string): string => requestId.slice(0, 1);
const everything = { fromHoldId: '', dayOf, recordsMax: 10_000 };

interface Drawn {
  readonly day: string;
  readonly amountPicos: bigint;
  readonly model: string;
  readonly fate: 'charged' | 'failed' | 'given-up' | 'second-hold' | 'taken-over';
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  day: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  amountPicos: fc.bigInt({ min: 0n, max: 10n ** 24n }),
  model: fc.constantFrom('alpha-1', 'beta-1', 'gamma-1'),
  fate: fc.constantFrom('charged', 'failed', 'given-up', 'second-hold', 'taken-over'),
});

const toRecords = ({ day, amountPicos, model, fate }: Drawn, turn: number): readonly ChargeRecord[] => {
  const id = `${day}${String(turn).padStart(5, '0')}`;
  const charge = (number: number) => charged(`${id}.${number}`, amountPicos, model);
  switch (fate) {
    case 'charged':
      return [charge(0)];
    case 'failed':
      return [released(`${id}.0`, 'given_up'), released(`${id}.1`, 'upstream_error')];
    case 'given-up':
      return [released(`${id}.0`, 'given_up')];
    case 'second-hold':
      return [released(`${id}.0`, 'upstream_error'), charge(1)];
    case 'taken-over':
      return [charge(0), released(`${id}.1`, 'taken_over'), released(`${id}.2`, 'taken_over')];
  }
};

const isCharged = ({ fate }: Drawn): boolean => fate !== 'failed' && fate !== 'given-up';
const naive = (requests: readonly Drawn[]) => {
  const good = requests.filter(isCharged);
  const sum = (of: readonly Drawn[]) => of.reduce((total, { amountPicos }) => total + amountPicos, 0n);
  const models = [...new Set(good.map(({ model }) => model))].map((model) => {
    const of = good.filter((request) => request.model === model);
    return { model, costPicos: sum(of), requests: of.length };
  });
  return {
    costPicos: sum(good),
    requests: good.length,
    failed: requests.filter(({ fate }) => fate === 'failed').length,
    models: expect.toSatisfy((told: typeof models) => sameMembers(told, models)),
  };
};
const sameMembers = <T extends { readonly model: string }>(one: readonly T[], other: readonly T[]): boolean => {
  const inOrder = (of: readonly T[]) => of.toSorted((a, b) => (a.model < b.model ? -1 : 1));
  expect(inOrder(one)).toEqual(inOrder(other));
  return true;
};

test('KEY-4 the sums over any records match a simple count, per day and in total', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { maxLength: 60 }), async (requests) => {
      const memory = await stored(requests.flatMap(toRecords));
      const { complete, total, days } = await sumSpend(memory, ID, {
        ...everything,
        days: ['a', 'b', 'c', 'd', 'e'],
      });
      expect(complete).toBe(true);
      expect(total).toEqual(naive(requests));
      for (const { day, ...sum } of days) expect(sum).toEqual(naive(requests.filter((each) => each.day === day)));
      expect(days.map(({ day }) => day)).toEqual(['a', 'b', 'c', 'd', 'e']);
      const costs = total.models.map(({ costPicos }) => costPicos);
      expect(costs).toEqual(costs.toSorted((one, other) => (one > other ? -1 : one < other ? 1 : 0)));
    }),
    runs,
  );
});

test('KEY-4 a limited read counts only the latest whole requests and reports if any are left', async () => {
  const requests = Array.from({ length: 12 }, (_, turn): Drawn => {
    const fate = (['taken-over', 'charged', 'second-hold'] as const)[turn % 3] ?? 'charged';
    return { day: 'a', amountPicos: 1n, model: 'alpha-1', fate };
  });
  const records = requests.flatMap(toRecords);
  const memory = await stored(records);
  for (let recordsMax = 1; recordsMax <= records.length + 1; recordsMax += 1) {
    const { complete, total } = await sumSpend(memory, ID, { ...everything, recordsMax, days: ['a'] });
    expect(complete).toBe(recordsMax >= records.length);
    const newest = records.toReversed().slice(0, recordsMax);
    const oldest = newest.at(-1)?.requestId;
    const whole = complete ? newest : newest.filter(({ requestId }) => requestId !== oldest);
    expect(total.requests).toBe(new Set(whole.map(({ requestId }) => requestId)).size);
    expect(total.failed).toBe(0);
    const recent = await sumRecent(memory, ID, { fromHoldId: '', recordsMax });
    expect(recent).toEqual({ costPicos: total.costPicos, cutAtHoldId: complete ? undefined : newest.at(-1)?.holdId });
  }
});

test('KEY-4 records are read in pages up to the limit', async () => {
  const memory = await stored(
    Array.from({ length: 2_600 }, (_, turn) => charged(`a${String(turn).padStart(5, '0')}.0`)),
  );
  const limits: number[] = [];
  const source = withRecordFaults(memory, {});
  const spied = {
    ...source,
    listRecords: (accountId: string, range: Parameters<typeof source.listRecords>[1]) => {
      limits.push(range.limit);
      return source.listRecords(accountId, range);
    },
  };
  await sumSpend(spied, ID, { ...everything, days: ['a'], recordsMax: 2_500 });
  expect(limits).toEqual([1_000, 1_000, 500]);
});

test('KEY-4 records outside the range or of another account are not counted', async () => {
  const memory = await stored([charged('a.0'), charged('b.0'), charged('c.0'), { ...charged('b1.0'), accountId: 'x' }]);
  const { total } = await sumSpend(memory, ID, {
    ...everything,
    fromHoldId: 'b',
    beforeHoldId: 'c',
    days: ['a', 'b', 'c'],
  });
  expect(total).toMatchObject({ requests: 1, costPicos: 5n });
});
