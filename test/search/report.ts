import type { Clause } from './clauses.ts';
import type { Configuration } from './configuration.ts';
import type { Found } from './explore.ts';

export interface ConfigurationResult {
  readonly configuration: Configuration;
  readonly found: Found;
}

export interface ClauseResult {
  readonly clause: Clause;
  /** Number of states visited over all budgets. */
  readonly states: number;
  readonly faults?: number;
  readonly crashes?: number;
  readonly what?: string;
  readonly trace?: readonly string[];
  /** Whether the search visited every state without a finding. */
  readonly complete?: boolean;
}

/** Content of docs/internals/money-proof.md. */
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

This file is written by \`npx node test/search/run.ts --document\`. Do not edit it.

\`test/search\` runs the code of \`lambdas/core\` (hold, settle, release, sweep, outbox, idempotency, and the paid call around them) and
tries every order in which its store calls can be executed. An actor is a request, a sweeper or the worker of the outbox. The search
keeps only the list of replies that an actor has received. For each new list, it runs the actor again from its start until the actor waits
for further replies. So the next step of an actor depends on that list alone. The stores are plain data with the conditions of the tables. A random test compares them with the in-memory fakes in \`test/support/memory\`,
which the contract tests compare with the real engine.

**Possible events in each state.**

- Any pending call is executed.
- A fault, while the budget of faults lasts. There are four kinds:
  - A call gets no reply. It can still be executed at any later time, or never.
  - A call is executed, but its reply is lost.
  - A call is executed, and executed a second time at any later time. Holds are excluded, because the store client sends each hold once.
  - A call is rejected with certainty, if the code distinguishes this from a missing reply.
- An actor crashes between any two calls, while the budget of crashes lasts.
- Time advances to its next step, such as the expiry of the hold or of the lease.
- A process sleeps through any of these, while sweepers and other requests work. In some configurations, time
  can also advance between the execution of a call and the arrival of its reply.

**Conditions in every state.**

- The available and held amounts equal the credited amount minus the spent amount.
- The credited amount is the sum of credits and reversals, less refunds, chargebacks and debits. A credit is returned at most once in
  full, and a chargeback is reversed at most once.
- The spent amount is the sum of the settled records whose holds are closed. So no charge counts twice or is missing, and no closed hold
  opens again.
- The rest of each cap is its limit less the charges and open holds of its present period, and never below 0.
- A request has at most one settled record. All requests with one idempotency key together have at most one.
- A request that returned a success is charged, or has an unreleased entry in the outbox.
- A request that returned an error is not charged.
- An account with an open hold is on the sweep list.
- All responses for one idempotency key are equal, and the response of a charge with such a key is stored.
- When all actors have ended, the sweeper and the worker run without faults: once after the calls in flight are executed,
  and once if they never are. Then no hold is open, the outbox is empty, and every success is charged.

**Not modeled.** Amounts on receipts, usage, prices and the account's version: no decision depends on them. In an account that a successful
hold or a read returns, only the id and the holds can be read; reading another field throws an error. Retry pauses take no time, and random
numbers are 0. Two sweepers are interchangeable. A call that changes nothing and whose reply is permanent, such as a write of a
record that already exists, goes first. The search skips its other orders, except with \`--whole\`. States are compared in full, not by hash.

## Searched configurations

\`npx node test/search/run.ts\` searches all of them. \`--config a,d\` selects some. \`--faults\`, \`--crashes\`, \`--states\` (millions),
\`--minutes\` and \`--whole\` change the search. The unit test \`test/lambdas/core/ledger/ledger-search.test.ts\` searches the same
configurations with smaller budgets.
`;

const configurationTable = (results: readonly ConfigurationResult[]): string =>
  [
    '| id | actors | faults | crashes | states | ends | s | complete | violations |',
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
    ({ what, trace }) => `**Open violation** in ${configuration.id}: ${what}.\n\n${listed(trace)}\n`,
  );

const thousands = (count: number): string => count.toLocaleString('en-US');

const documentedCases = (results: readonly ConfigurationResult[]): string => {
  const cases = results.flatMap(({ configuration, found }) =>
    found.documented.map(
      ({ what, states, trace }) =>
        `In ${configuration.id}, ${thousands(states)} states: ${what}. One path to it:\n\n${listed(trace)}\n`,
    ),
  );
  return [
    '## The one exception\n',
    'A charge is uncertain if neither its record nor its release had a definite reply, and no outbox entry was confirmed in time. No actor can know whether the request was charged.',
    'The client gets an error. The sweeper, the worker or the next request with the idempotency key finds the charge later. The search accepts',
    "this only if the request's last write of a record had no definite reply.\n",
    '`[refused]` means that the store does not execute the call. In d to g, the actor gets no definite reply to the calls that its configuration rejects.\n',
    ...cases,
  ].join('\n');
};

const listed = (trace: readonly string[]): string => trace.map((line, index) => `${index + 1}. ${line}`).join('\n');

const clauseIntroduction = `## Removed clauses

\`npx node test/search/run.ts --clauses\` (\`--only wire-once,adopt\` selects some) removes one clause from the sources while they are loaded.
It searches breadth first without skipping an order: with no faults, then one fault, one crash, both, and two faults. Every row names the
first violation. A clause without a violation is not necessary by itself in the searched configurations: another clause covers it, as the row
explains.
`;

const clauseTable = (clauses: readonly ClauseResult[]): string =>
  [
    '| removed clause | configuration | faults, crashes | first violation | steps | states |',
    '|---|---|---|---|---|---|',
    ...clauses.map(
      ({ clause, faults, crashes, what, trace = [], states, complete }) =>
        `| ${clause.clause} | ${clause.configuration} | ${faults === undefined ? 'all' : `${faults}, ${crashes}`} | ` +
        `${what ?? nothingFound(clause, complete ?? false)} | ${what === undefined ? '' : trace.length} | ${thousands(states)} |`,
    ),
    '',
  ].join('\n');

const nothingFound = ({ covered }: Clause, complete: boolean): string =>
  `nothing${complete ? '' : ' in the visited part'}: ${covered ?? 'cause unknown'}`;

const counterexample = ({ clause, what = '', trace = [] }: ClauseResult): string =>
  `**${clause.clause}** removed: ${what}\n\n${listed(trace)}\n`;
