import { join, relative } from 'node:path';
import { areaOf, currentTier, projectOf, type Tier } from '../tiers.ts';

/** Parameters for fast-check: the seed and the number of runs. */
export interface RandomRuns {
  readonly seed: number;
  readonly numRuns: number;
}

const repository = join(import.meta.dirname, '../..');

/**
 * Prints the seed and the command that replays the run. `SEED` replays a seed, `RUNS` multiplies the number of runs.
 * Call it with `import.meta.filename`. The quick number must be the smallest that still catches the suite's seeded
 * mistakes.
 */
export const randomRuns = (filename: string, runs: Readonly<Record<Tier, number>>): RandomRuns => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const factor = Number(process.env.RUNS ?? 1);
  const numRuns = runs[currentTier()] * factor;
  const file = relative(repository, filename);
  const project = projectOf(areaOf(file), currentTier());
  const multiplied = factor === 1 ? '' : ` RUNS=${factor}`;
  const command = `SEED=${seed}${multiplied} npx vitest run --project ${project} ${file}`;
  process.stdout.write(`${numRuns} runs with seed ${seed}; replay: ${command}\n`);
  return { seed, numRuns };
};
