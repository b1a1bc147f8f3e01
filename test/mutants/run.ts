import { writeFileSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectOfFile, type Tier } from '../tiers.ts';
import type { ProjectFile, Trial } from './lane.ts';
import { openLanes } from './lanes.ts';
import { filesOf, type MoneyBug, moneyBugs } from './money-bugs.ts';
import type { Outcome } from './outcome.ts';
import { type Caught, renderPage } from './page.ts';

// `npm run test:mutants -- [--tier quick|long] [--only <id>]...` seeds each mistake, one at a time, and runs the tests
// that the mistake names. Exit code 0: the tests of the tier catch enough mistakes.

/** Share of the mistakes that each tier must catch. */
const enough: Readonly<Record<Tier, number>> = { quick: 0.9, long: 1 };
/** Limit in ms: a mistake can make a test wait forever. */
const trialMsMax: Readonly<Record<Tier, number>> = { quick: 300_000, long: 1_800_000 };
const PAGE = join(import.meta.dirname, '../../docs/internals/money-bugs.md');

const fail = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(2);
};

const { values } = parseArgs({
  options: { tier: { type: 'string', default: 'long' }, only: { type: 'string', multiple: true } },
});
const tier = values.tier === 'quick' || values.tier === 'long' ? values.tier : fail('--tier: use quick or long.');
const ids = values.only ?? moneyBugs.map(({ id }) => id);
const chosen = moneyBugs.filter(({ id }) => ids.includes(id));
const unknown = ids.filter((id) => chosen.every((bug) => bug.id !== id));
if (unknown.length > 0) fail(`--only: no mistake has the id "${unknown[0]}". The ids are in test/mutants/bugs.`);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const testsOf = (bug: MoneyBug): readonly ProjectFile[] =>
  filesOf(bug).flatMap((file) => {
    const project = projectOfFile(file, tier);
    return project ? [{ file, project }] : [];
  });

const descriptionOf = (outcome: Outcome): string => {
  if (outcome.kind === 'green') return 'NOT CAUGHT';
  return outcome.kind === 'caught' ? `caught by "${outcome.title}" (${outcome.message})` : `BROKEN: ${outcome.message}`;
};

const startedAt = Date.now();
const trials = chosen.map((bug) => ({ bug, tests: testsOf(bug) }));
const tests = new Map(trials.flatMap((trial) => trial.tests).map((test) => [test.file, test]));
const projects = [...new Set([...tests.values()].map(({ project }) => project))];
const lanes = openLanes({ count: Math.min(availableParallelism(), 4), projects, trialMsMax: trialMsMax[tier] });

const proveGreen = async (): Promise<void> => {
  const red: string[] = [];
  const alone = [...tests.values()].map((test): Trial => ({ tests: [test] }));
  await lanes.run(alone, ({ tests: [test] }, outcome) => {
    if (outcome.kind !== 'green') red.push(`${test?.file}: ${descriptionOf(outcome)}`);
  });
  if (red.length > 0) throw new Error(`These tests fail without any mistake:\n${red.join('\n')}`);
  say(`${alone.length} test files pass without any mistake`);
};

const runAll = async (): Promise<ReadonlyMap<string, Outcome>> => {
  const outcomes = new Map<string, Outcome>();
  const runnable = trials.filter((trial) => trial.tests.length > 0);
  const bugTrials = runnable.map(({ bug, tests }): Trial => ({ bugId: bug.id, tests }));
  await lanes.run(bugTrials, ({ bugId = '' }, outcome) => {
    outcomes.set(bugId, outcome);
    say(`${outcomes.size}/${bugTrials.length} ${bugId}: ${descriptionOf(outcome)}`);
  });
  return outcomes;
};

const report = (outcomes: ReadonlyMap<string, Outcome>): void => {
  const caught = chosen.flatMap((bug): readonly Caught[] => {
    const outcome = outcomes.get(bug.id);
    return outcome?.kind === 'caught' ? [{ bug, title: outcome.title, file: outcome.file }] : [];
  });
  if (tier === 'long' && caught.length === moneyBugs.length) writeFileSync(PAGE, renderPage(caught));
  const missed = chosen.filter(({ id }) => outcomes.get(id)?.kind !== 'caught');
  if (missed.length > 0) say('\nNot caught:');
  for (const bug of missed) {
    const outcome = outcomes.get(bug.id);
    say(`${bug.id}: ${outcome ? descriptionOf(outcome) : `no ${tier} test`} (${filesOf(bug).join(', ')})`);
  }
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  say(`\n${caught.length} of ${chosen.length} caught, ${minutes} minutes`);
  process.exitCode = caught.length >= chosen.length * enough[tier] ? 0 : 1;
};

let interruptedBy: 'SIGINT' | 'SIGTERM' | undefined;
const interrupt = (signal: 'SIGINT' | 'SIGTERM'): void => {
  interruptedBy = signal;
  void lanes.close();
};
process.on('SIGINT', interrupt);
process.on('SIGTERM', interrupt);
try {
  await proveGreen();
  report(await runAll());
} catch (error) {
  process.exitCode = 1;
  if (!interruptedBy) say(error instanceof Error ? error.message : String(error));
} finally {
  await lanes.close();
  if (interruptedBy) process.exitCode = 128 + constants.signals[interruptedBy];
}
process.exit();
