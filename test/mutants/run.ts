import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type MoneyBug, moneyBugs } from './money-bugs.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { renderPage } from './page.ts';
import { runVitest } from './vitest-child.ts';

/** One for each core of the smallest machine the tests run on. */
const AT_ONCE = 2;
const PAGE = join(import.meta.dirname, '../../docs/money-bugs.md');

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = values.only ? moneyBugs.filter(({ id }) => values.only?.includes(id)) : moneyBugs;
if (chosen.length === 0) throw new Error(`no bug is called "${values.only}"`);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const run = async (files: readonly string[], folder: string, bugId?: string): Promise<Outcome> => {
  const { exitCode, report, output } = await runVitest(files, folder, bugId);
  return report === '' ? { kind: 'broken', message: output.slice(-2_000) } : outcomeOf(report, exitCode);
};

const runAll = async (bugs: readonly MoneyBug[], folder: string): Promise<ReadonlyMap<MoneyBug, Outcome>> => {
  const outcomes = new Map<MoneyBug, Outcome>();
  const waiting = [...bugs];
  const lane = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const outcome = await run([bug.caughtBy], folder, bug.id);
      outcomes.set(bug, outcome);
      say(`${bug.id}: ${outcome.kind === 'green' ? 'SURVIVES' : outcome.kind}${told(outcome)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return outcomes;
};

const told = (outcome: Outcome): string => {
  if (outcome.kind === 'green') return '';
  return outcome.kind === 'caught' ? ` by "${outcome.title}" (${outcome.message})` : `: ${outcome.message}`;
};

const folder = mkdtempSync(join(tmpdir(), 'gateway-money-bugs-'));
try {
  const files = [...new Set(chosen.map(({ caughtBy }) => caughtBy))];
  const without = await run(files, folder);
  if (without.kind !== 'green') throw new Error(`without any bug the tests are not green${told(without)}`);
  const outcomes = await runAll(chosen, folder);
  const caught = chosen.flatMap((bug) => {
    const outcome = outcomes.get(bug);
    return outcome?.kind === 'caught' ? [{ bug, title: outcome.title }] : [];
  });
  if (caught.length === moneyBugs.length) writeFileSync(PAGE, renderPage(caught));
  say(`${caught.length} of ${chosen.length} money bugs caught, by ${files.length} test files`);
  process.exitCode = caught.length === chosen.length ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
