import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { clauses } from './clauses.ts';
import { configurations } from './configurations.ts';
import { type Found, Search } from './explore.ts';
import { type ClauseResult, type ConfigurationResult, toDocument } from './report.ts';
import { isTakenOut } from './without-clause.ts';

/**
 * `npx node test/search/run.ts` searches every configuration completely. `--config a,d` selects some; `--faults 1
 * --crashes 0` sets other budgets; `--states N` (millions) and `--minutes N` limit the search; `--whole` skips no call
 * order; `--clauses` removes one clause after the other; `--document` does both and writes
 * docs/internals/money-proof.md. Fails on a violation, on an incomplete search of a configuration that is not partial,
 * and if no violation follows from a removed clause.
 */
const { values: options } = parseArgs({
  options: {
    config: { type: 'string' },
    faults: { type: 'string' },
    crashes: { type: 'string' },
    states: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '60' },
    whole: { type: 'boolean', default: false },
    clauses: { type: 'boolean', default: false },
    only: { type: 'string' },
    without: { type: 'string' },
    document: { type: 'boolean', default: false },
  },
});

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const tell = (found: Found): void => {
  for (const { what, trace } of found.violations) say(`  VIOLATION: ${what}\n${indented(trace)}`);
  for (const { what, states, trace } of found.documented)
    say(`  documented, ${states} states: ${what}\n${indented(trace)}`);
};

const indented = (trace: readonly string[]): string => trace.map((line) => `      ${line}`).join('\n');

const searchAll = async (): Promise<readonly ConfigurationResult[]> => {
  const wanted = options.config?.split(',');
  const results: ConfigurationResult[] = [];
  for (const given of configurations.filter(({ id }) => wanted?.includes(id) ?? true)) {
    const configuration = {
      ...given,
      faults: Number(options.faults ?? given.faults),
      crashes: Number(options.crashes ?? given.crashes),
    };
    const found = await new Search(configuration).run({
      states: Number(options.states) * 1_000_000,
      ms: Number(options.minutes) * 60_000,
      order: 'depth',
      reduced: !options.whole,
    });
    const { id, title, faults, crashes } = configuration;
    const rate = Math.round(found.states / found.ms);
    say(
      `${id} (${title}; ${faults} faults, ${crashes} crashes): ${found.states} states, ${found.ends} ends, ` +
        `${(found.ms / 1_000).toFixed(1)} s, ${rate},000 states/s, ${found.complete ? 'complete' : 'NOT COMPLETE'}, ` +
        `${found.violations.length} violations`,
    );
    tell(found);
    results.push({ configuration, found });
  }
  return results;
};

/** Budgets for the search of a counterexample. The first budget with a finding has the simplest one. */
const budgets = [
  { faults: 0, crashes: 0 },
  { faults: 1, crashes: 0 },
  { faults: 0, crashes: 1 },
  { faults: 1, crashes: 1 },
  { faults: 2, crashes: 0 },
] as const;

/** Searches in a process whose sources lack the clause. */
const searchWithout = async (id: string): Promise<void> => {
  const clause = clauses.find((one) => one.id === id);
  const configuration = configurations.find((one) => one.id === clause?.configuration);
  if (!clause || !configuration) throw new Error(`clause ${id} does not exist, or has no configuration`);
  if (!isTakenOut()) throw new Error(`${id} is not removed: preload without-clause.ts`);
  let states = 0;
  let complete = true;
  for (const budget of budgets) {
    const search = new Search({ ...configuration, ...budget });
    const found = await search.run({ states: 1_500_000, ms: 120_000, order: 'breadth', reduced: false });
    states += found.states;
    complete &&= found.complete;
    const [violation] = found.violations;
    if (violation) return say(JSON.stringify({ ...budget, ...violation, states }));
  }
  say(JSON.stringify({ states, complete }));
};

const searchClauses = (): readonly ClauseResult[] => {
  const wanted = options.only?.split(',');
  return clauses
    .filter(({ id }) => wanted?.includes(id) ?? true)
    .map((clause) => {
      const preload = join(import.meta.dirname, 'without-clause.ts');
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        ['--import', preload, join(import.meta.dirname, 'run.ts'), '--without', clause.id],
        { encoding: 'utf8', env: { ...process.env, SEARCH_WITHOUT: clause.id } },
      );
      if (status !== 0) throw new Error(`${clause.id}: ${stderr}`);
      const result: ClauseResult = { clause, ...JSON.parse(stdout) };
      const { what = 'NOTHING FOUND', trace = [] } = result;
      say(
        `without "${clause.clause}" (${clause.configuration}): ${what}, ${trace.length} steps, ${result.states} states`,
      );
      say(indented(trace));
      return result;
    });
};

if (options.without !== undefined) await searchWithout(options.without);
else {
  const clauseResults = options.clauses || options.document ? searchClauses() : [];
  const results = options.clauses && !options.document ? [] : await searchAll();
  if (options.document) {
    writeFileSync(join(import.meta.dirname, '../../docs/internals/money-proof.md'), toDocument(results, clauseResults));
  }
  const bad = results.some(
    ({ configuration, found }) => found.violations.length > 0 || !(found.complete || configuration.partial),
  );
  const idle = clauseResults.some(({ clause, what }) => what === undefined && clause.covered === undefined);
  if (bad || idle) process.exitCode = 1;
}
