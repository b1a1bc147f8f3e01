/** What a random suite is run with: its seed, given or new, and how often. */
export interface RandomRuns {
  readonly seed: number;
  readonly numRuns: number;
}

/**
 * Prints the seed and the one command that repeats the run. `SEED` repeats a run, `RUNS` multiplies how many there are.
 * `file` is the test's own path from the root of the repository.
 */
export const randomRuns = (project: 'unit' | 'integration' | 'service', file: string, runs: number): RandomRuns => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const factor = Number(process.env.RUNS ?? 1);
  const command = `SEED=${seed}${factor === 1 ? '' : ` RUNS=${factor}`} npm exec -- vitest run --project ${project} ${file}`;
  process.stdout.write(`${runs * factor} runs with seed ${seed}; once more: ${command}\n`);
  return { seed, numRuns: runs * factor };
};
