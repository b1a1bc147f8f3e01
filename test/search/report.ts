import type { Clause } from './clauses.ts';
import type { Configuration } from './configuration.ts';
import type { Found } from './explore.ts';

export interface ConfigurationResult {
  readonly configuration: Configuration;
  readonly found: Found;
}

export interface ClauseResult {
  readonly clause: Clause;
  /** Looked at in all, over the budgets that were tried. */
  readonly states: number;
  readonly faults?: number;
  readonly crashes?: number;
  readonly what?: string;
  readonly trace?: readonly string[];
  /** When nothing was found: whether everything was looked at. */
  readonly complete?: boolean;
}

/** docs/internals/money-proof.md, all of it. */
export const toDocument = (results: readonly ConfigurationResult[], clauses: readonly ClauseResult[]): string =>
  [
    introduction,
    configurationTable(results),
    ...results.flatMap(violationsIn),
    documentedCases(results),
    clauseIntroduction,
    clauseTable(clauses),
    '## Shortest counterexamples\n',
    ...clauses.filter(({ what }) => what !== undefined).map(counterexample),
  ].join('\n');

const introduction = `# Why no money gets lost or charged twice

This file is written by \`npx node test/search/run.ts --document\`; do not edit it.

\`test/search\` runs the code of \`lambdas/core\` itself (hold, settle, release, sweep, outbox, idempotency, and the paid call around them)
and tries every order in which its calls to the stores can be executed. An actor (a request, a sweeper, the outbox's worker) is run anew
from its beginning for each new list of answers until all its calls wait again, so what it does next depends on that list alone. The
stores are plain data with the conditions of the tables; a random test compares them with the twins in \`test/support/memory\`, which the
contract tests compare with the real engine.

**What can happen in each state.** Any call that waits is executed. While the budget of faults lasts: a call gets no answer and its
request may still be executed at any later time, or never; it is executed and the answer is lost; it is executed and answered, and the
same request is executed once more at any later time (not a hold, which goes over the wire once); it is refused with certainty, wherever
the code makes a difference between that and no answer. "Nothing was written and no answer came" is the first of these, never landing.
While the budget of crashes lasts, an actor dies between any two calls. Time goes on to its next step: past the expiry of the hold, past
the end of a lease. A process may sleep through any of it: sweepers and other requests do their work while it does, and in some
configurations it also wakes later than its answer came.

**What is looked at in every state.** Available and held are credited less spent. Spent is the sum of the settled records whose holds are
closed, so no charge counts twice or not at all, and no closed hold opens again. At most one settled record for a request, and for all
requests under one key. Whoever was told a success is charged, or a note that nobody has released waits in the outbox. Whoever was told
an error is not charged. An account with an open hold is on the sweep list. All answers under one key are the same, and the answer of a
charge under a key is stored. Where every actor has ended, sweeper and worker run undisturbed, with what is still under way and without
it: then no hold is open, no note waits, and every success is charged.

**What is left out.** Amounts on receipts, usage, prices, and the account's version: no decision depends on them, and the account that
a hold or a read answers throws when they are asked for. Pauses between tries take no time and random numbers are 0. Two sweepers are
the same but for their names. A call whose answer is settled for good and that changes nothing (a record that is there, a refusal) goes
first, and the other orders of it are left out, unless \`--whole\` is given. States are compared whole, not by a hash.

## What was searched

\`npx node test/search/run.ts\` (all of it), \`--config a,d\` (some), \`--faults\`, \`--crashes\`, \`--states\` (millions), \`--minutes\`, \`--whole\`.
The unit test \`test/lambdas/core/ledger/ledger-search.test.ts\` searches the same configurations with smaller budgets.
`;

const configurationTable = (results: readonly ConfigurationResult[]): string =>
  [
    '| | actors | faults | crashes | states | ends | s | complete | violations |',
    '|---|---|---|---|---|---|---|---|---|',
    ...results.map(
      ({ configuration: { id, title, faults, crashes }, found }) =>
        `| ${id} | ${title} | ${faults} | ${crashes} | ${thousands(found.states)} | ${thousands(found.ends)} | ` +
        `${Math.round(found.ms / 1_000)} | ${found.complete ? 'yes' : 'no'} | ${found.violations.length} |`,
    ),
    '',
  ].join('\n');

const violationsIn = ({ configuration, found }: ConfigurationResult): readonly string[] =>
  found.violations.map(
    ({ what, trace }) => `**A violation stands open**, in ${configuration.id}: ${what}.\n\n${listed(trace)}\n`,
  );

const thousands = (count: number): string => count.toLocaleString('en-US');

const documentedCases = (results: readonly ConfigurationResult[]): string => {
  const cases = results.flatMap(({ configuration, found }) =>
    found.documented.map(
      ({ what, states, trace }) =>
        `In ${configuration.id}, ${thousands(states)} states: ${what}. One of the ways to it:\n\n${listed(trace)}\n`,
    ),
  );
  return [
    '## The one exception\n',
    'A charge whose record, whose note and whose release all had no definite answer may stand or not, and nobody who could be asked knows.',
    'Its client is told an error, and the charge is found out by the sweeper, the worker or the next request under the key. It is not',
    'counted as a violation where the last write of a record by that request went unanswered, and nowhere else.\n',
    ...cases,
  ].join('\n');
};

const listed = (trace: readonly string[]): string => trace.map((line, index) => `${index + 1}. ${line}`).join('\n');

const clauseIntroduction = `## Each clause by itself

\`npx node test/search/run.ts --clauses\` (\`--only wire-once,adopt\`) takes one clause out of the sources while they are loaded and searches
breadth first, with no faults, then one, a crash, both, two faults; nothing is left out of the orders. Every line names the first
violation. A clause for which nothing is found is not needed by itself in what was searched: another one covers it, as told in the list.
`;

const clauseTable = (clauses: readonly ClauseResult[]): string =>
  [
    '| without | in | faults, crashes | what goes wrong | steps | states |',
    '|---|---|---|---|---|---|',
    ...clauses.map(
      ({ clause, faults, crashes, what, trace = [], states, complete }) =>
        `| ${clause.clause} | ${clause.configuration} | ${faults === undefined ? 'all' : `${faults}, ${crashes}`} | ` +
        `${what ?? nothingFound(clause, complete ?? false)} | ${what === undefined ? '' : trace.length} | ${thousands(states)} |`,
    ),
    '',
  ].join('\n');

const nothingFound = ({ covered }: Clause, complete: boolean): string =>
  `nothing${complete ? '' : ', as far as was looked'}: ${covered ?? 'not known why'}`;

const counterexample = ({ clause, what = '', trace = [] }: ClauseResult): string =>
  `**${clause.clause}** taken out: ${what}\n\n${listed(trace)}\n`;
