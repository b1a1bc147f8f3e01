import { spawnSync } from 'node:child_process';
import { suites } from './full-suites.ts';

// `npm run test:full`: both tiers, then the suites that take hours on two cores. A suite that fails does not end the
// run.

/** Exit code of a suite that this machine cannot run. */
const SKIPPED = 77;

type Outcome = 'passed' | 'FAILED' | 'skipped';

const outcomeOf = (status: number | null): Outcome => {
  if (status === SKIPPED) return 'skipped';
  return status === 0 ? 'passed' : 'FAILED';
};

const results = suites.map(({ title, command: [program = '', ...args], environment }) => {
  process.stdout.write(`\n== ${title}: ${[program, ...args].join(' ')}\n`);
  const startedAt = Date.now();
  const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const outcome = outcomeOf(status);
  return { title, outcome, minutes: ((Date.now() - startedAt) / 60_000).toFixed(1) };
});

process.stdout.write('\n');
for (const { title, outcome, minutes } of results)
  process.stdout.write(`${outcome.padEnd(7)} ${minutes.padStart(6)} min  ${title}\n`);
const amountOf = (wanted: Outcome): number => results.filter(({ outcome }) => outcome === wanted).length;
process.stdout.write(`${amountOf('passed')} passed, ${amountOf('FAILED')} failed, ${amountOf('skipped')} skipped\n`);
if (amountOf('FAILED') > 0) process.exitCode = 1;
