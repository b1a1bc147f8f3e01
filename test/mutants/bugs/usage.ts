import { bugsIn, type MoneyBug } from './money-bug.ts';

const stores = 'test/contracts/usage-summary.contract.test.ts';

export const usageBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/core/ledger/read-periods.ts', 'test/lambdas/core/ledger/read-periods.test.ts', [
    {
      id: 'summary-stores-open-holds',
      what: 'A charge whose hold is open is added to the stored sums, and again as a late charge.',
      find: ' && !without.has(record.holdId)',
      replace: '',
    },
    {
      id: 'summary-stores-new-requests',
      what: 'The sums of a day are stored although requests of its last minutes are not held yet.',
      find: 'const untilId = run.reachedId < countedToId ? run.reachedId : countedToId;',
      replace: 'const untilId = run.reachedId;',
    },
    {
      id: 'summary-never-catches-up',
      what: 'The summary of an account with many new requests is never complete.',
      find: 'if (last) await ignoreStoreError(',
      replace: 'if (!last) await ignoreStoreError(',
    },
    {
      id: 'summary-reads-without-a-limit',
      what: 'One summary reads all records of its range, and can throttle the account.',
      find: '      left -= page.records.length;\n',
      replace: '',
    },
    {
      id: 'summary-forgets-a-part',
      what: 'A day that one call cannot finish starts again with each call, and never has its sums.',
      find: 'if (!isRead && !(period.kept',
      replace: 'if (untilId < period.endId || !(period.kept',
    },
    {
      id: 'summary-counts-released-requests',
      what: 'Requests that were not charged count in a summary.',
      find: "record.outcome === 'settled' && isBetween",
      replace: 'isBetween',
    },
    {
      id: 'summary-looks-for-holds-too-early',
      what: 'A late request that is recorded while a summary reads is counted twice.',
      find: `  const read = await readRuns(deps, account.id, runs, recordsMax);
  const rest = await readRest(deps, account, periods);`,
      replace: `  const rest = await readRest(deps, account, periods);
  const read = await readRuns(deps, account.id, runs, recordsMax);`,
      caughtBy: 'test/lambdas/core/ledger/late-charges.test.ts',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/late-charges.ts', 'test/lambdas/core/ledger/late-charges.test.ts', [
    {
      id: 'late-charge-counted-twice',
      what: 'A late charge that the next read of its day counts is also added before.',
      find: 'if (charge.holdId < positionId) sums',
      replace: 'sums',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/close-hold.ts', 'test/lambdas/core/ledger/late-charges.test.ts', [
    {
      id: 'late-charges-forgotten',
      what: 'Requests that are charged below the stored sums, after a clock was set back, are in no sums.',
      find: "outcome === 'settled' && holdId < countedToId",
      replace: "outcome === 'released' && holdId < countedToId",
    },
  ]),
  ...bugsIn('lambdas/core/ledger/rebuild-usage.ts', 'test/lambdas/core/ledger/rebuild-usage.test.ts', [
    {
      id: 'rebuild-keeps-wrong-sums',
      what: 'The command that corrects usage sums adds to the wrong ones.',
      find: 'nextSums(period, [], period.startId)',
      replace: 'nextSums(period, period.kept?.cells ?? [], period.startId)',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/usage-periods.ts', 'test/lambdas/core/ledger/usage-summary.test.ts', [
    {
      id: 'key-spend-starts-late',
      what: 'The spend of an API key lacks its first requests after a long history without keys.',
      find: 'return firstIdAt(lowMs - DAY_MS);',
      replace: 'return firstIdAt(highMs);',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/usage-sums.ts', 'test/lambdas/core/ledger/usage-sums.test.ts', [
    {
      id: 'summary-item-without-a-bound',
      what: 'The stored sums of a day with many end users grow beyond what an item can hold.',
      find: 'return { model, isOther: true };',
      replace: 'return names;',
    },
    {
      id: 'summary-hides-merged-users',
      what: 'Merged end users look like requests without an end user.',
      find: "...((groups.has('key') || groups.has('end_user')) && cell.isOther && { isOther: true }),",
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/usage.ts', 'test/lambdas/core/ledger/usage.test.ts', [
    {
      id: 'filtered-list-ends-early',
      what: 'A filtered list ends where one page stops reading, and older receipts are never shown.',
      find: 'nextHoldId: isCut && readRequest !== undefined ?',
      replace: 'nextHoldId: readRequest === undefined ?',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/usage-sums.ts', stores, [
    {
      id: 'slower-read-over-stored-sums',
      what: 'A slower read of a summary replaces the sums that another read has stored since.',
      find: "condition: 'revision = :before'",
      replace: "condition: 'revision >= :before'",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/ledger-store.ts', stores, [
    {
      id: 'late-charges-not-stored',
      what: 'A charge below the stored sums is closed as any other, and is in no sums.',
      find: "if (outcome === 'released') return",
      replace: "if (outcome !== 'released' || holdId) return",
    },
  ]),
  ...bugsIn('local/stores/sqlite/usage-sums.ts', stores, [
    {
      id: 'sqlite-slower-read-over-stored-sums',
      what: 'In the embedded ledger a slower read of a summary replaces the sums that are stored.',
      find: 'return revision === (row',
      replace: 'return revision <= (row',
    },
    {
      id: 'sqlite-late-charge-added-twice',
      what: 'In the embedded ledger two reads at the same time both add a late charge to the sums.',
      find: 'holdId) !== undefined;',
      replace: 'holdId) !== null;',
    },
  ]),
  ...bugsIn('lambdas/core/paid-call/call-report.ts', 'test/lambdas/core/paid-call/call-report.test.ts', [
    {
      id: 'receipt-without-its-key',
      what: 'Charge records lack the API key, so its spend is unknown.',
      find: '      ...(keyId !== undefined && { keyId }),\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/protocols/csv.ts', 'test/lambdas/protocols/csv.test.ts', [
    {
      id: 'csv-runs-formulas',
      what: 'A spreadsheet runs the name of an end user as a formula.',
      find: 'value.replaceAll(FORMULA, "\'")',
      replace: 'value',
    },
    {
      id: 'csv-runs-formulas-after-separators',
      what: 'A spreadsheet that splits at semicolons runs a part of the name of an end user as a formula.',
      find: '(?<=^|[;',
      replace: '(?<=^|[',
    },
  ]),
  ...bugsIn('lambdas/protocols/account/usage-row.ts', 'test/lambdas/protocols/account/usage-row.test.ts', [
    {
      id: 'bound-not-in-the-receipt',
      what: 'A receipt does not show that its counts were charged at a bound, so its cost seems wrong.',
      find: 'record.implausible ?? false',
      replace: 'false',
    },
  ]),
];
