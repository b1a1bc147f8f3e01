import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clauses, editsOf } from '../../../search/clauses.ts';
import { configurations } from '../../../search/configurations.ts';
import { Search } from '../../../search/explore.ts';
import { anyOp } from '../../../search/random-ops.ts';
import { Twins } from '../../../search/twins.ts';
import { execute } from '../../../search/world.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const repository = join(import.meta.dirname, '../../../..');
/** Bounds a hang; how long a search takes depends on what else the machine does. */
const TIMEOUT_MS = 300_000;

/** Smaller budgets than the configurations have by themselves: those are for `npx node test/search/run.ts`. */
const searched = [
  ['a', 2, 1],
  ['stream', 1, 1],
  ['two', 0, 1],
  ['b', 1, 1],
  ['c', 0, 1],
  ['c', 1, 0],
  ['ends', 0, 1],
  ['d', 1, 1],
  ['e', 0, 1],
  ['f', 1, 1],
  ['g', 1, 0],
] as const;

const runs = randomRuns('unit', 'test/lambdas/core/ledger/search.test.ts', 500);

test('BILL-13 BILL-14 IDEM-8 the world of the search does what the stores of the other tests do', async () => {
  const calls = fc.array(anyOp, { minLength: 20, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(calls, async (ops) => {
      const twins = new Twins();
      let world = await twins.open(250n);
      for (const op of ops) {
        const [step] = execute(world, op);
        expect(step?.answer, op.kind).toEqual(await twins.execute(op));
        world = step?.world ?? world;
        expect(world, op.kind).toEqual(await twins.world());
      }
    }),
    runs,
  );
});

describe('every order of the calls to the stores', () => {
  test.each(searched)(
    'BILL-13 BILL-14 IDEM-8 in configuration %s, with %i faults and %i crashes, no money is lost or charged twice',
    async (id, faults, crashes) => {
      const configuration = configurations.find((one) => one.id === id);
      if (!configuration) throw new Error(`there is no configuration ${id}`);
      const search = new Search({ ...configuration, faults, crashes });
      const found = await search.run({ states: 3_000_000, ms: TIMEOUT_MS, order: 'depth', reduced: true });
      expect(found.violations).toEqual([]);
      expect(found.complete).toBe(true);
      expect(found.ends).toBeGreaterThan(10);
    },
    TIMEOUT_MS,
  );

  test('BILL-14 only where the store told nothing of charge and release may an error stand beside a charge', () => {
    const { documented } = configurations.find(({ id }) => id === 'f') ?? {};
    const told = { requestId: 'a', kind: 'error', content: 'service_unavailable' } as const;
    expect(documented?.(told)).toBeUndefined();
    expect(documented?.({ ...told, unanswered: ['putNote'] })).toBeUndefined();
    expect(documented?.({ ...told, unanswered: ['putNote', 'putRecord'] })).toContain('neither');
  });
});

describe('the clauses of the protocols', () => {
  test.each(clauses)('BILL-13 BILL-14 IDEM-8 "$clause" stands in the code once', (clause) => {
    for (const { file, find } of editsOf(clause)) {
      const parts = readFileSync(join(repository, file), 'utf8').split(find);
      expect(parts, file).toHaveLength(2);
    }
  });

  test(
    'BILL-13 without one of them the search finds what goes wrong',
    () => {
      const { stdout, status } = spawnSync(
        'npx',
        ['node', 'test/search/run.ts', '--clauses', '--only', 'obey-record,on-the-list'],
        { cwd: repository, encoding: 'utf8' },
      );
      expect(status).toBe(0);
      expect(stdout).toContain('an open hold that no sweep would find');
      expect(stdout).not.toContain('NOTHING FOUND');
    },
    TIMEOUT_MS,
  );
});
