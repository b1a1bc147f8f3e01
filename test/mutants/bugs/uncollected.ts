import { bugsIn } from './money-bug.ts';

const unit = 'test/lambdas/core/ledger/allowance.test.ts';
const text = 'test/lambdas/core/text/uncollected-text.test.ts';
const contracts = 'test/contracts/ledger-allowance.contract.test.ts';

const allowanceBugs = bugsIn('lambdas/core/ledger/allowance.ts', unit, [
  {
    id: 'allowance-never-reset',
    what: 'The uncollected amounts of all days add up, so an account stays rejected forever.',
    find: 'if (!uncollected || uncollected.day < today) return',
    replace: 'if (!uncollected) return',
  },
  {
    id: 'allowance-day-set-back',
    what: 'A process with a late clock sets the counter back to the day before, which starts the allowance again.',
    find: 'return { day: uncollected.day, picos: uncollected.picos + picos };',
    replace: 'return { day: today, picos: uncollected.picos + picos };',
  },
  {
    id: 'provider-failure-uses-the-allowance',
    what: 'Failures of a provider use the allowance of an account that did not cause them.',
    find: 'usesAllowance ? uncollectedPicos : undefined',
    replace: 'uncollectedPicos',
  },
  {
    id: 'allowance-of-a-later-day-ignored',
    what: 'A process with a late clock places holds although the allowance of the account is used.',
    find: 'uncollected.day >= allowance.day',
    replace: 'uncollected.day === allowance.day',
  },
]);

const recordBugs = [
  ...bugsIn('lambdas/core/ledger/release.ts', text, [
    {
      id: 'uncollected-above-the-hold',
      what: 'An estimate above the hold counts in full.',
      find: 'picos < amountPicos ? picos : amountPicos',
      replace: 'picos',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/ledger.ts', text, [
    {
      id: 'uncollected-not-metered',
      what: 'The metric of uncollected amounts misses released requests.',
      find: '...(uncollectedPicos === undefined ? {} : { uncollected: uncollectedPicos })',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/hold.ts', text, [
    {
      id: 'allowance-not-asked-for',
      what: 'A text request places its hold whatever the account used of its allowance.',
      find: 'allowance: allowanceAt(nowMs, order)',
      replace: 'allowance: undefined',
    },
  ]),
  ...bugsIn('lambdas/core/paid-call/with-paid-call.ts', text, [
    {
      id: 'lost-charge-counted-twice',
      what: 'A charge that the commit loses is counted a second time by its release.',
      find: 'read ? committing : paid',
      replace: 'read ? { ...committing, uncollected } : paid',
    },
  ]),
];

const textBugs = bugsIn('lambdas/core/text/uncollected-text.ts', text, [
  {
    id: 'deadline-costs-nothing',
    what: 'A client can let every request run into the deadline, for free and without a limit.',
    find: 'isBlocked || (deadline.hasCut(thrown) &&',
    replace: 'isBlocked || (deadline.hasCut(undefined) &&',
  },
  {
    id: 'blocked-output-costs-nothing',
    what: 'A client can request blocked output, for free and without a limit.',
    find: 'isBlocked || (deadline.hasCut(thrown) &&',
    replace: '(deadline.hasCut(thrown) &&',
  },
  {
    id: 'rejected-prompt-uses-the-allowance',
    what: 'A prompt that the provider rejects, and does not bill, uses the allowance.',
    find: '&& (reported || output.isStream)',
    replace: '',
  },
  {
    id: 'forwarded-output-not-estimated',
    what: 'A response that the deadline cuts costs only its prompt.',
    find: 'estimateOf(promptTokens, output.tokens)',
    replace: 'estimateOf(promptTokens, 0)',
  },
  {
    id: 'reported-usage-ignored',
    what: 'The cost of blocked output is estimated although the provider reported its counts.',
    find: 'chargeFor(usage ?? estimateOf',
    replace: 'chargeFor(estimateOf',
  },
]);

const storeBugs = [
  ...bugsIn('lambdas/stores/dynamodb/ledger-store.ts', contracts, [
    {
      id: 'allowance-not-in-the-hold',
      what: 'The condition of a hold does not include the allowance.',
      find: 'OR uncollected < :allowance)',
      replace: 'OR uncollected < :allowance OR uncollected >= :allowance)',
    },
    {
      id: 'uncollected-counted-twice',
      what: 'A repeated write counts an uncollected amount again, and returns its hold again.',
      find: "const IS_OF_DAY = 'uncollectedDay >= :today';",
      replace: "const IS_OF_DAY = 'uncollectedDay >= :today OR uncollectedDay >= :today';",
    },
    {
      id: 'uncollected-added-to-the-day-before',
      what: 'The first uncollected amount of a day is added to those of the day before.',
      find: "const IS_OF_DAY = 'uncollectedDay >= :today';",
      replace: "const IS_OF_DAY = '(uncollectedDay >= :today OR uncollectedDay < :today)';",
    },
    {
      id: 'uncollected-not-counted',
      what: 'Further uncollected amounts of a day are not counted.',
      find: "', uncollected = uncollected + :use'",
      replace: "', uncollected = if_not_exists(uncollected, :use)'",
    },
  ]),
  ...bugsIn('local/stores/sqlite/ledger-store.ts', contracts, [
    {
      id: 'allowance-not-in-the-local-hold',
      what: 'Under `npm start`, a hold does not depend on the allowance.',
      find: '!isAllowanceUsed(account, allowance)',
      replace: '!isAllowanceUsed(account, undefined && allowance)',
    },
  ]),
];

export const uncollectedBugs = [...allowanceBugs, ...recordBugs, ...textBugs, ...storeBugs];
