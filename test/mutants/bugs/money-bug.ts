/** A mistake somebody could make in the code that moves money, and the tests that have to notice it. */
export interface MoneyBug {
  readonly id: string;
  /** What the gateway then does, in one sentence. */
  readonly what: string;
  readonly file: string;
  /** Stands once in the file. */
  readonly find: string;
  readonly replace: string;
  /** A test file. */
  readonly caughtBy: string;
}

type InFile = Omit<MoneyBug, 'file' | 'caughtBy'> & Partial<Pick<MoneyBug, 'caughtBy'>>;

/** Bugs of one file; all of them are caught by the same tests unless one says otherwise. */
export const bugsIn = (file: string, caughtBy: string, bugs: readonly InFile[]): readonly MoneyBug[] =>
  bugs.map((bug) => ({ caughtBy, ...bug, file }));
