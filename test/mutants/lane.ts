import { join } from 'node:path';
import { createVitest, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';
import { moneyBugs } from './money-bugs.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** One run of vitest: test files, and the seeded mistake. */
export interface Trial {
  /** Undefined: no mistake. */
  readonly bugId?: string;
  readonly tests: readonly ProjectFile[];
}

/** Test file and the vitest project that runs it. */
export interface ProjectFile {
  readonly file: string;
  readonly project: string;
}

// Separate process, started by `lanes.ts`. A message contains a trial, and the response is its outcome. Starting vitest
// and transforming modules takes seconds, so one vitest runs all trials. Each trial has a new worker process.
const repository = join(import.meta.dirname, '../..');
process.env.MONEY_BUG = '';
process.once('disconnect', () => process.exit(1));

const loaded = new Set<string>();
let ended: Outcome | undefined;
const recorder: Reporter = {
  onTestRunStart() {
    loaded.clear();
    ended = undefined;
  },
  onTestModuleQueued: ({ id }) => void loaded.add(id),
  onTestRunEnd(modules: readonly TestModule[], unhandled) {
    ended = outcomeOf(
      modules.filter(({ id }) => loaded.has(id)),
      unhandled,
    );
  },
};

const vitest = await createVitest({
  root: repository,
  watch: false,
  project: process.argv.slice(2),
  reporters: [recorder],
  maxWorkers: 1,
  bail: 1,
  coverage: { enabled: false },
});

const specificationOf = ({ file, project }: ProjectFile): TestSpecification =>
  vitest.getProjectByName(project).createSpecification(join(repository, file));

const run = async ({ bugId = '', tests }: Trial): Promise<Outcome> => {
  const places = moneyBugs.filter(({ id }) => id === bugId || id === process.env.MONEY_BUG);
  process.env.MONEY_BUG = bugId;
  for (const { file } of places) vitest.invalidateFile(join(repository, file));
  await vitest.runTestSpecifications(tests.map(specificationOf));
  return ended ?? { kind: 'broken', message: 'the run did not end' };
};

process.on('message', async (trial: Trial) => {
  const outcome = await run(trial).catch((error): Outcome => ({ kind: 'broken', message: String(error) }));
  process.send?.(outcome);
});
