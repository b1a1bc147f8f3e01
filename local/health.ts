/**
 * Returns a code for each part that does not work, such as `disk_space`. Codes hold no path and no secret: `GET
 * /health` shows them.
 */
export type HealthCheck = () => readonly string[] | Promise<readonly string[]>;

export interface HealthOptions {
  readonly checks: readonly HealthCheck[];
  /** Monotonic time in ms. Tests replace it. */
  readonly now?: () => number;
}

/** Maximum age of a result. Limits the checks, because anyone may request `/health` as often as they like. */
const MAX_AGE_MS = 1_000;

/**
 * Creates `FunctionDependencies.problems` (GEN-10). Runs the checks at most once a second. A check that throws counts
 * as `check_failed`.
 */
export const createHealth = ({ checks, now = () => performance.now() }: HealthOptions) => {
  let last: { readonly atMs: number; readonly problems: Promise<readonly string[]> } | undefined;
  return (): Promise<readonly string[]> => {
    if (!last || now() - last.atMs >= MAX_AGE_MS) last = { atMs: now(), problems: runAll(checks) };
    return last.problems;
  };
};

const runAll = async (checks: readonly HealthCheck[]): Promise<readonly string[]> => {
  const found = await Promise.all(checks.map((check) => Promise.try(check).catch(() => ['check_failed'])));
  return [...new Set(found.flat())];
};
