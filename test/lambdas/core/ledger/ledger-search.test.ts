import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clauses, editsOf } from '../../../search/clauses.ts';
import { configurations } from '../../../search/configurations.ts';
import { Search } from '../../../search/explore.ts';
import { Fakes } from '../../../search/fakes.ts';
import { anyOp } from '../../../search/random-ops.ts';
import { execute } from '../../../search/world.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { rowsOfTier } from '../../../tiers.ts';

const repository = join(import.meta.dirname, '../../../..');

/**
 * Configuration, faults, crashes and protocol of each search. The first row of each protocol is the smallest search
 * that detects a missing clause of the protocol. The budgets are smaller than those of `npx node test/search/run.ts`.
 */
const rows = [
  ['a', 1, 0, 'ledger'],
  ['a', 2, 1, 'ledger'],
  ['stream', 1, 1, 'ledger'],
  ['returns', 1, 0, 'credits'],
  ['returns', 1, 1, 'credits'],
  ['caps', 0, 1, 'caps'],
  ['caps', 1, 0, 'caps'],
  ['cap', 1, 1, 'caps'],
  ['two', 0, 1, 'ledger'],
  ['b', 1, 1, 'ledger'],
  ['c', 0, 1, 'idempotency'],
  ['c', 1, 0, 'idempotency'],
  ['ends', 0, 1, 'idempotency'],
  ['d', 1, 0, 'outbox'],
  ['d', 1, 1, 'outbox'],
  ['f', 1, 0, 'no outbox'],
  ['f', 1, 1, 'no outbox'],
  ['g', 1, 0, 'no outbox'],
  // Only this search detects that certain clauses are missing. Each of these clauses also has a test in
  // test/lambdas/core/idempotency.
  ['e', 0, 1, 'idempotency'],
] as const;
const searched = rowsOfTier(rows, ([, , , protocol]) => protocol);

const runs = randomRuns(import.meta.filename, { quick: 50, long: 5_000 });

test('BILL-13 BILL-14 IDEM-8 the stores of the search behave like the in-memory stores', async () => {
  const calls = fc.array(anyOp, { minLength: 20, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(calls, async (ops) => {
      const fakes = new Fakes();
      let world = await fakes.open(250n);
      for (const op of ops) {
        const [step] = execute(world, op);
        expect(step?.answer, op.kind).toEqual(await fakes.execute(op));
        world = step?.world ?? world;
        expect(world, op.kind).toEqual(await fakes.world());
      }
    }),
    runs,
  );
});

describe('every order of store calls', () => {
  test.each(searched)(
    'BILL-13 BILL-14 IDEM-8 configuration %s, %i faults, %i crashes: all money is accounted for',
    async (id, faults, crashes) => {
      const configuration = configurations.find((one) => one.id === id);
      if (!configuration) throw new Error(`unknown configuration ${id}`);
      const search = new Search({ ...configuration, faults, crashes });
      const found = await search.run({
        states: 3_000_000,
        ms: Number.POSITIVE_INFINITY,
        order: 'depth',
        reduced: true,
      });
      expect(found.violations).toEqual([]);
      expect(found.complete).toBe(true);
      expect(found.ends).toBeGreaterThan(10);
    },
  );

  test('BILL-14 an error with a charge is allowed only if neither charge nor release was confirmed', () => {
    const { documented } = configurations.find(({ id }) => id === 'f') ?? {};
    const told = { requestId: 'a', kind: 'error', content: 'service_unavailable' } as const;
    expect(documented?.(told)).toBeUndefined();
    expect(documented?.({ ...told, unanswered: ['putNote'] })).toBeUndefined();
    expect(documented?.({ ...told, unanswered: ['putNote', 'putRecord'] })).toContain('neither');
  });
});

test('BILL-13 BILL-14 IDEM-8 the text of every clause occurs in the code exactly once', () => {
  const misplaced = clauses
    .flatMap(editsOf)
    .filter(({ file, find }) => readFileSync(join(repository, file), 'utf8').split(find).length !== 2);
  expect(misplaced).toEqual([]);
});
