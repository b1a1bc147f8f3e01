import { bugsIn } from './money-bug.ts';

const unit = 'test/lambdas/core/ledger/allowance.test.ts';
const text = 'test/lambdas/core/text/uncollected-text.test.ts';
const contracts = 'test/contracts/ledger-allowance.contract.test.ts';

const allowanceBugs = bugsIn('lambdas/core/ledger/allowance.ts', unit, [
  {
    id: 'allowance-never-reset',
    what: 'The uncollected amounts of all days add up, so an account stays rejected forever.',
    find: 'movePeriod({ period: counter.day, picos: counter.picos, kept }, day)',
    replace: "{ picos: counter.picos, origin: 'new' }",
  },
  {
    id: 'allowance-day-set-back',
    what: 'A process with a late clock sets the counter back to the day before, which starts the allowance again.',
    find: 'movePeriod({ period: counter.day, picos: counter.picos, kept }, day)',
    replace: 'movePeriod({ period: counter.day, picos: counter.picos, kept }, day, 0n)',
  },
  {
    id: 'silent-deadlines-anew-by-two-clocks',
    what: 'Two clocks that alternate between two days start the count of deadlines without content each time.',
    find: "origin !== 'new' && silent",
    replace: "origin === 'carried' && silent",
  },
  {
    id: 'allowance-anew-by-two-clocks',
    what: 'Two clocks that alternate between two days give the account a new allowance each time.',
    find: 'const kept = other ? [{ period: other.day, picos: other.picos }] : [];',
    replace: 'const kept: readonly { readonly period: string; readonly picos: bigint }[] = [];',
  },
  {
    id: 'provider-failure-uses-the-allowance',
    what: 'Failures of a provider use the allowance of an account that did not cause them.',
    find: 'usesAllowance || silentDeadline ? uncollectedPicos : undefined',
    replace: 'uncollectedPicos',
  },
  {
    id: 'silent-deadline-uses-the-allowance',
    what: 'One provider that hangs puts a paying account on probation.',
    find: '!isFree && allowancePicos !== undefined && used > allowancePicos',
    replace: 'allowancePicos !== undefined && uncollectedNow.picos > allowancePicos',
  },
  {
    id: 'silent-deadlines-free-forever',
    what: 'A client can let every request run into the deadline before its first content, for free.',
    find: 'Math.min(silentDeadlines + 1, SILENT_DEADLINES_MAX)',
    replace: 'Math.min(silentDeadlines + 1, SILENT_DEADLINES_FREE)',
  },
  {
    id: 'silent-deadlines-together-without-end',
    what: 'A wave of calls that end without content is free, whatever it costs.',
    find: 'picos: counted.picos + possible',
    replace: 'picos: counted.picos + (isFree ? 0n : possible)',
  },
  {
    id: 'silent-deadlines-counted-alone',
    what: 'One provider that hangs under 20 parallel requests puts a paying account on probation.',
    find: 'isOfGroup ? silentDeadlines :',
    replace: 'isOfGroup && silentDeadlines < 0 ? silentDeadlines :',
  },
  {
    id: 'silent-deadlines-of-a-clock-ahead',
    what: 'After a clock was ahead, all deadlines without content of a day count as one.',
    find: 'silentAtMs !== undefined && silentAtMs <= nowMs + SKEW_MS_MAX &&',
    replace: 'silentAtMs !== undefined &&',
  },
  {
    id: 'probation-for-the-whole-allowance',
    what: 'A probation starts although the amounts are within the allowance.',
    find: 'used > allowancePicos',
    replace: 'used >= allowancePicos',
  },
  {
    id: 'probation-not-prolonged',
    what: 'Further uncollected amounts do not prolong a probation.',
    find: '(probationUntilPicos ?? 0n) + (isFree ? 0n : REPAID_TIMES * possible)',
    replace: '(probationUntilPicos ?? 0n)',
  },
  {
    id: 'probation-of-the-last-amount',
    what: 'A probation forgets the amounts of its day before the last one.',
    find: 'spentPicos + REPAID_TIMES * used',
    replace: 'spentPicos + REPAID_TIMES * possible',
  },
  {
    id: 'probation-never-ends',
    what: 'Charges do not end a probation.',
    find: 'spentPicos < probationUntilPicos',
    replace: 'spentPicos >= 0n',
  },
  {
    id: 'allowance-of-the-other-day-ignored',
    what: 'A process with a late clock places holds although the allowance of its day is used.',
    find: 'inDay(uncollected, allowance.day).picos >=',
    replace: 'uncollected.day === allowance.day && uncollected.picos >=',
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
      find: 'allowance: allowanceAt(order)',
      replace: 'allowance: undefined',
    },
    {
      id: 'probation-ignores-choices',
      what: 'An account on probation gets more output at a time by several choices.',
      find: 'tokens * choices > PROBATION_OUTPUT_TOKENS',
      replace: 'tokens > PROBATION_OUTPUT_TOKENS',
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
    find: 'allowanceUseOf(thrown, deadline, output.hasContent)',
    replace: 'allowanceUseOf(thrown, { hasCut: () => false }, output.hasContent)',
  },
  {
    id: 'deadline-within-output-is-silent',
    what: 'The first deadlines of a day are free although the client got content.',
    find: 'allowanceUseOf(thrown, deadline, output.hasContent)',
    replace: 'allowanceUseOf(thrown, deadline, false)',
  },
  {
    id: 'blocked-output-costs-nothing',
    what: 'A client can request output that is blocked or breaks off, for free and without a limit.',
    find: '{ ...details, usesAllowance: true }',
    replace: 'details',
  },
  {
    id: 'rejected-prompt-uses-the-allowance',
    what: 'A prompt that the provider rejects, and does not bill, uses the allowance.',
    find: 'output.isStream && isBlocked(thrown)',
    replace: 'isBlocked(thrown)',
  },
  {
    id: 'forwarded-output-not-estimated',
    what: 'A response that the deadline cuts costs only its prompt.',
    find: 'Math.max(0, output.tokens - answerTokensOf(reported))',
    replace: '0',
  },
  {
    id: 'usage-so-far-ignored',
    what: 'The cost of a stream that the deadline cuts is estimated although the provider reported counts.',
    find: 'output.usageSoFar() ?? noTokens',
    replace: 'noTokens',
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
      find: 'OR uncollected < :dailyLimit OR',
      replace: 'OR uncollected < :dailyLimit OR uncollected >= :dailyLimit OR',
    },
    {
      id: 'later-day-locks-a-kept-one',
      what: 'Amounts that a clock ahead has counted lock an account out on a day with its own, smaller amount.',
      find: ' OR uncollectedOtherDay = :today)',
      replace: ')',
    },
    {
      id: 'allowance-of-the-kept-day-not-in-the-hold',
      what: 'The condition of a hold does not include an amount of its day that was counted before a later day.',
      find: 'OR uncollectedOther < :dailyLimit)',
      replace: 'OR uncollectedOther < :dailyLimit OR uncollectedOther >= :dailyLimit)',
    },
    {
      id: 'probation-not-in-the-hold',
      what: 'An account on probation gets several large holds at a time.',
      find: 'OR size(holds) = :none)',
      replace: 'OR size(holds) >= :none)',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/allowance-updates.ts', contracts, [
    {
      id: 'uncollected-added-to-the-day-before',
      what: 'The first uncollected amount of a day is added to those of the day before.',
      find: ' AND uncollectedDay = :today AND uncollected <= :most',
      replace: ' AND uncollectedDay <= :today AND uncollected <= :most',
    },
    {
      id: 'probation-not-started',
      what: 'A further amount of a day exceeds the allowance, and no probation starts.',
      find: 'uncollected <= :most AND',
      replace: '(uncollected <= :most OR uncollected > :most) AND',
    },
    {
      id: 'uncollected-not-counted',
      what: 'Further uncollected amounts of a day are not counted.',
      find: "set: ', uncollected = uncollected + :use',",
      replace: "set: ', uncollected = if_not_exists(uncollected, :use)',",
    },
    {
      id: 'probation-not-prolonged-in-the-database',
      what: 'Further amounts of an account on probation do not prolong it.',
      find: 'probationUntil = probationUntil + :repaid',
      replace: 'probationUntil = if_not_exists(probationUntil, :repaid)',
    },
    {
      id: 'silent-deadline-counted-at-once',
      what: 'The first deadline without content of a day uses the allowance.',
      find: "' AND uncollectedSilent = :silent'",
      replace: "' AND uncollectedSilent <= :silent'",
    },
  ]),
  ...bugsIn('local/stores/sqlite/ledger-store.ts', contracts, [
    {
      id: 'allowance-not-in-the-local-hold',
      what: 'Under `npm start`, a hold does not depend on the allowance.',
      find: 'refusalOf(account, allowance) === undefined',
      replace: 'refusalOf(account, undefined && allowance) === undefined',
    },
  ]),
];

export const uncollectedBugs = [...allowanceBugs, ...recordBugs, ...textBugs, ...storeBugs];
