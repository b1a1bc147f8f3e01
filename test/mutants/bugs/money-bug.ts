/** Mistake that a developer could make in the code that moves money, and the tests that have to notice it. */
export interface MoneyBug {
  readonly id: string;
  /** Effect on the gateway, in one sentence. */
  readonly what: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** One test file or several. Any of them catches the mistake. */
  readonly caughtBy: string | readonly string[];
}

type InFile = Omit<MoneyBug, 'file' | 'caughtBy'> & Partial<Pick<MoneyBug, 'caughtBy'>>;

/** Mistakes of one file. The same tests catch all of them, except a mistake that names its own. */
export const bugsIn = (file: string, caughtBy: MoneyBug['caughtBy'], bugs: readonly InFile[]): readonly MoneyBug[] =>
  bugs.map((bug) => ({ caughtBy, ...bug, file }));
