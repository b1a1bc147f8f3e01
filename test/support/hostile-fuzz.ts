import fc from 'fast-check';

const RUNS = Number(process.env.FUZZ_RUNS ?? 5_000);
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2_147_483_647);

export interface FuzzPart {
  /** The test file, for the command that replays. */
  readonly file: string;
  /** This part of all runs, between 0 and 1. */
  readonly share: number;
}

export const runsOf = ({ share }: FuzzPart): number => Math.ceil(RUNS * share);

/** Longer than any run takes, in proportion to its length. */
export const fuzzTimeoutMs = (part: FuzzPart): number => 100_000 + runsOf(part) * 20;

/** Runs a property with a seed that is told, and on a failure tells the one command that repeats it. */
export const fuzz = async <T>(
  part: FuzzPart,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
): Promise<void> => {
  const runs = runsOf(part);
  process.stdout.write(`${part.file}: ${runs} cases, seed ${SEED}\n`);
  await fc.assert(fc.asyncProperty(arbitrary, check), {
    numRuns: runs,
    seed: SEED,
    ...(process.env.FUZZ_PATH ? { path: process.env.FUZZ_PATH } : {}),
    interruptAfterTimeLimit: fuzzTimeoutMs(part) - 10_000,
    markInterruptAsFailure: true,
    asyncReporter: async (details) => {
      if (!details.failed) return;
      const replay = `FUZZ_RUNS=${RUNS} FUZZ_SEED=${SEED} FUZZ_PATH=${details.counterexamplePath ?? ''}`;
      const command = `${replay} npm exec -- vitest run --project service ${part.file}`;
      const cause = details.errorInstance instanceof Error ? details.errorInstance.message : 'interrupted';
      throw new Error(`${cause}\n\n${fc.defaultReportMessage(details)?.slice(0, 4_000)}\n\nReplay: ${command}`);
    },
  });
};
