import { bugsIn, type MoneyBug } from './money-bug.ts';

const stores = 'test/contracts/usage-summary.contract.test.ts';

export const usageBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/core/ledger/usage-summary.ts', 'test/lambdas/core/ledger/usage-summary.test.ts', [
    {
      id: 'summary-of-a-day-with-open-holds',
      what: 'The sums of a day are stored while one of its requests can still be charged.',
      find: '    if (start < id) id = start;\n',
      replace: '',
    },
    {
      id: 'summary-before-late-holds',
      what: 'The sums of a day are stored although requests of its last minutes are not held yet.',
      find: 'const UNHELD_MS = 900_000;',
      replace: 'const UNHELD_MS = 0;',
    },
    {
      id: 'summary-counts-the-last-request-twice',
      what: 'A request at the end of a page counts twice in a summary.',
      find: 'page.records.filter(({ holdId }) => requestIdOf(holdId) !== unfinishedId)',
      replace: 'page.records',
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
      find: 'const isWorthIt = readDays.has(day) ||',
      replace: 'const isWorthIt = (isComplete && readDays.has(day)) ||',
    },
    {
      id: 'summary-counts-released-requests',
      what: 'Requests that were not charged count in a summary.',
      find: "record?.outcome === 'settled' ? record : undefined",
      replace: 'record',
    },
    {
      id: 'key-spend-without-new-requests',
      what: 'The spend of an API key lacks the requests of the last quarter of an hour.',
      find: '  const nextId = cutId ?? (await readRange(throughId, END, take));',
      replace: '  const nextId = cutId;',
    },
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
      find: "condition: 'fromId = :seen'",
      replace: "condition: 'attribute_exists(pk) OR fromId = :seen'",
    },
  ]),
  ...bugsIn('local/stores/sqlite/usage-sums.ts', stores, [
    {
      id: 'sqlite-slower-read-over-stored-sums',
      what: 'In the embedded ledger a slower read of a summary replaces the sums that are stored.',
      find: 'WHERE usage_sums.from_id = ?`',
      replace: 'WHERE usage_sums.from_id IS NOT ?`',
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
  ...bugsIn('lambdas/protocols/account/usage-row.ts', 'test/lambdas/protocols/account/usage-row.test.ts', [
    {
      id: 'csv-runs-formulas',
      what: 'A spreadsheet runs the name of an end user as a formula.',
      find: "toTextCell(String(cell ?? ''))",
      replace: "String(cell ?? '')",
    },
    {
      id: 'bound-not-in-the-receipt',
      what: 'A receipt does not show that its counts were charged at a bound, so its cost seems wrong.',
      find: 'record.implausible ?? false',
      replace: 'false',
    },
  ]),
];
