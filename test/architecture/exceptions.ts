/**
 * Exceptions that exist today, by rule. A breach that is not listed fails its test, and so does an exception that no
 * file needs: the lists only shrink.
 */
export const exceptions = {
  /** `<file> -> <imported file>`. */
  imports: [
    // A simulator validates requests independently of the gateway. These files share bounds of JSON, a signature and a
    // list of models.
    'local/simulators/anthropic/request-blocks.ts -> lambdas/protocols/parse.ts',
    'local/simulators/anthropic/request.ts -> lambdas/protocols/parse.ts',
    'local/simulators/google/models.ts -> catalog/google.json',
    'local/simulators/google/proto.ts -> lambdas/protocols/parse.ts',
    'local/simulators/google/request.ts -> lambdas/protocols/parse.ts',
    'local/simulators/messenger/messenger.ts -> lambdas/core/signature.ts',
  ],
  /** Files of a cycle, sorted and joined by a space. */
  cycles: [],
  /** Product files that are too short. */
  small: [],
  /** Names that end in a word that says nothing. */
  endings: [],
  /** Base names that two files of `lambdas` use for different things. */
  baseNames: [
    // The file of a bot command has the name of the command.
    'account',
    // Links to stored media, and media in a request.
    'media',
  ],
  /** Packages that package.json declares and no file imports. */
  packages: [],
  /** Files that assign to `process.env`. */
  assignedEnvironment: [
    // Vitest modules read the variable of the seeded mistake again for each trial.
    'test/mutants/lane.ts',
    // Sets TMPDIR before vitest starts its workers, which inherit it.
    'test/support/run-folder.ts',
  ],
  /** `<file>: <call>`. */
  calls: [],
} as const satisfies Record<string, readonly string[]>;
