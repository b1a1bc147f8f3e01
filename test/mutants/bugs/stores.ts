import { bugsIn, type MoneyBug } from './money-bug.ts';

const contracts = 'test/contracts';
const holdTests = `${contracts}/ledger-holds.contract.test.ts`;
const ledgerTests = `${contracts}/ledger-store.contract.test.ts`;
const monthTests = `${contracts}/ledger-months.contract.test.ts`;
const claimTests = `${contracts}/claim-store.contract.test.ts`;

/** Every changed condition still uses all its names and values, because DynamoDB rejects a write with an unused one. */
const ledgerBugs = bugsIn('lambdas/stores/dynamodb/ledger-store.ts', holdTests, [
  {
    id: 'hold-without-money',
    what: 'A hold does not check the available balance.',
    find: 'AND available >= :amount AND',
    replace: 'AND',
  },
  {
    id: 'hold-below-zero',
    what: 'An account without balance can continue with free requests.',
    find: 'AND credited > spent AND',
    replace: 'AND',
  },
  {
    id: 'hold-over-a-hold',
    what: 'A hold replaces an open one with the same id, whose money is lost.',
    find: 'AND attribute_not_exists(holds.#id) ',
    replace: '',
  },
  {
    id: 'hold-beside-the-one-before',
    what: 'A further try places a hold while the previous one is open.',
    find: '` AND attribute_not_exists(holds.$',
    replace: '` OR attribute_exists(holds.$',
  },
  {
    id: 'hold-of-the-blocked',
    what: 'A blocked account can place holds.',
    find: "'#status = :active AND",
    replace: "'(#status = :active OR attribute_exists(#status)) AND",
  },
  {
    id: 'hold-number-201',
    what: 'An account can have one open hold too many.',
    find: 'size(holds) < :holdsMax',
    replace: 'size(holds) <= :holdsMax',
  },
  {
    id: 'hold-sent-again-by-the-client',
    what: 'The database client repeats a hold whose reply was late, and the hold is placed twice.',
    find: 'hold(db.once, table, request, holdFormat)',
    replace: 'hold(db.repeating, table, request, holdFormat)',
    caughtBy: `${contracts}/fault-proxy.test.ts`,
  },
  {
    id: 'record-written-over',
    what: 'A second record replaces the first: for example, a release replaces the charge.',
    find: "item: toChargeItem(record),\n    condition: 'attribute_not_exists(pk)',",
    replace: "item: toChargeItem(record),\n    condition: 'attribute_not_exists(written)',",
    caughtBy: ledgerTests,
  },
  {
    id: 'money-moved-twice',
    what: 'A closed hold releases its money again.',
    find: "IS_MAP = 'holds.#id.amount = :amount'",
    replace: "IS_MAP = '(attribute_exists(pk) OR holds.#id.amount = :amount)'",
    caughtBy: ledgerTests,
  },
  {
    id: 'money-moved-by-another-amount',
    what: 'A hold can be closed with a wrong amount.',
    find: 'begins_with(holds.#idPacked, :start)',
    replace: '(attribute_exists(holds.#idPacked) AND :start = :start)',
    caughtBy: ledgerTests,
  },
  {
    id: 'newer-hold-closed',
    what: 'A packed hold with bytes of a newer release is closed, and its cap is not restored.',
    find: 'size(holds.#idPacked) = :bytes',
    replace: 'size(holds.#idPacked) >= :bytes',
    caughtBy: `${contracts}/stored-shapes.contract.test.ts`,
  },
  {
    id: 'charge-given-back',
    what: 'A charge is both spent and returned with the rest of the hold.',
    find: "':back': holdAmountPicos - record.amountPicos",
    replace: "':back': holdAmountPicos",
    caughtBy: ledgerTests,
  },
  {
    id: 'charge-in-a-month-that-is-over',
    what: 'The first charge of a month is added to the month before, whose statement was read already.',
    find: '`#month >= :month AND ',
    replace: '`(attribute_exists(pk) OR #month >= :month) AND ',
    caughtBy: monthTests,
  },
  {
    id: 'sweep-put-off-by-every-hold',
    what: 'Every hold delays the next sweep, so a busy account is never swept.',
    find: 'sweepAt = if_not_exists(sweepAt, :sweepAt)',
    replace: 'sweepAt = :sweepAt',
    caughtBy: ledgerTests,
  },
]);

const entryBugs = bugsIn('lambdas/stores/dynamodb/hold-entries.ts', ledgerTests, [
  {
    id: 'packed-hold-left-open',
    what: 'A packed hold stays open when its money is moved.',
    find: 'const packedKey = packedKeyOf(holdId);',
    replace: "const packedKey = packedKeyOf(holdId)?.concat('-');",
  },
]);

const replaceBugs = bugsIn('lambdas/stores/dynamodb/replace-account.ts', monthTests, [
  {
    id: 'slow-write-over-a-later-write',
    what: 'The slow write of an account replaces sums that another write changed after its read.',
    find: "condition: 'version = :before'",
    replace: "condition: 'attribute_exists(pk) OR version = :before'",
    caughtBy: [monthTests, 'test/contracts/fault-proxy.test.ts'],
  },
  {
    id: 'month-ends-without-its-closing',
    what: 'The first write of a month does not store the sums of the month before.',
    find: '[...toClosingWrites(table, replacement), ...others]',
    replace: '[...others]',
  },
]);

const sweepBugs = bugsIn('lambdas/stores/dynamodb/ledger-store.ts', ledgerTests, [
  {
    id: 'sweep-list-left-too-early',
    what: 'An account with an open hold is removed from the sweep list, and the hold stays forever.',
    find: "'size(holds) = :none'",
    replace: "'size(holds) >= :none'",
  },
  {
    id: 'sweep-list-never-left-in-the-table',
    what: 'An account without holds stays on the sweep list of the table forever.',
    find: 'version + :one REMOVE sweepAt',
    replace: 'version + :one',
  },
  {
    id: 'sweep-postponed-by-another',
    what: 'A slow sweep replaces the earlier time that another write has set for its account in the table.',
    find: ' OR sweepAt >= :at)',
    replace: ' OR sweepAt < :at OR sweepAt >= :at)',
  },
  {
    id: 'sweep-moved-later',
    what: 'A given-up hold delays the sweep of its account in the table.',
    find: 'sweepAt > :at',
    replace: 'attribute_exists(sweepAt)',
  },
]);

const returnTests = 'test/contracts/ledger-returns.contract.test.ts';
const creditBugs = bugsIn('lambdas/stores/dynamodb/credit-items.ts', returnTests, [
  {
    id: 'credited-twice',
    what: 'A repeated top-up is credited again.',
    find: "item: toCreditItem(request, month),\n      condition: 'attribute_not_exists(pk)'",
    replace: "item: toCreditItem(request, month),\n      condition: 'attribute_not_exists(written)'",
    caughtBy: ledgerTests,
  },
  {
    id: 'credit-of-another-amount',
    what: 'A top-up with another amount and the same reference counts as a repeat.',
    find: 'isRepeat(first, request)',
    replace: 'isRepeat(first, { ...request, amountPicos: first.amountPicos })',
    caughtBy: ledgerTests,
  },
  {
    id: 'return-above-its-credit',
    what: 'More is refunded than the payment was.',
    find: '(returned <= :bound OR (attribute_not_exists(returned) AND :none <= :bound))',
    replace: '(attribute_exists(pk) OR :none <= :bound)',
  },
  {
    id: 'first-return-above-its-credit',
    what: 'The first refund of a payment can be larger than the payment.',
    find: '(attribute_not_exists(returned) AND :none <= :bound)',
    replace: 'attribute_not_exists(returned)',
  },
  {
    id: 'return-not-counted',
    what: 'A payment can be refunded again and again, because it counts only its first refund.',
    find: "update: 'SET returned = if_not_exists(returned, :none) + :returned',",
    replace: "update: 'SET returned = if_not_exists(returned, :returned)',",
  },
  {
    id: 'chargeback-reversed-twice',
    what: 'Two reversals of one chargeback restore its amount twice.',
    find: ' AND attribute_not_exists(reversedBy)',
    replace: '',
  },
  {
    id: 'refund-reversed',
    what: 'A reversal restores a refund, whose money is with the payer.',
    find: '#type = :chargeback AND amount',
    replace: '(#type = :chargeback OR attribute_exists(#type)) AND amount',
  },
  {
    id: 'part-of-a-chargeback-reversed',
    what: 'A reversal of a part ends the whole chargeback.',
    find: 'AND amount = :change AND attribute_not_exists(reversedBy)',
    replace: 'AND amount <= :change AND attribute_not_exists(reversedBy)',
  },
  {
    id: 'available-without-credited',
    what: 'A refund lowers what can be spent but not the balance.',
    find: 'SET available = available + :change, credited = credited + :change, ',
    replace: 'SET available = available + :change, ',
  },
  {
    id: 'debit-below-zero',
    what: 'Concurrent debits take more than the account has.',
    find: "isCovered ? ' AND available >= :amount' : ''",
    replace: "isCovered ? ' AND (attribute_exists(pk) OR available >= :amount)' : ''",
  },
  {
    id: 'credit-listed-in-another-month',
    what: 'A credit is listed in the month of its call, and counted in the month of the account.',
    find: '`#month = :month$',
    replace: '`(attribute_exists(pk) OR #month = :month)$',
    caughtBy: monthTests,
  },
  {
    id: 'refund-stored-as-a-payment',
    what: 'A refund is stored with a positive amount, so the audit adds it to the payments.',
    find: 'amount: changeOf({ type, amountPicos: request.amountPicos }),',
    replace: 'amount: request.amountPicos,',
  },
]);

const claimBugs = [
  ...bugsIn('lambdas/stores/dynamodb/claim-store.ts', claimTests, [
    {
      id: 'take-over-within-the-lease',
      what: 'A claim is taken over while its lease is valid.',
      find: '} AND leaseUntilMs <= :now`',
      replace: '} AND (leaseUntilMs <= :now OR attribute_exists(leaseUntilMs))`',
    },
    {
      id: 'take-over-with-the-old-answer',
      what: 'A taken-over claim keeps the response of its old owner.',
      find: "remove: 'prepared',\n    returns: 'UPDATED_NEW',",
      replace: "returns: 'UPDATED_NEW',",
    },
    {
      id: 'expired-claim-of-a-running-request',
      what: 'An expired claim is reopened while its request is in progress.',
      find: '(expiresAtMs <= :now AND leaseUntilMs <= :now)',
      replace: 'expiresAtMs <= :now',
    },
    {
      id: 'take-over-not-counted',
      what: 'A takeover does not count as a dispatch.',
      find: "':one': 1,\n      ':now'",
      replace: "':one': 0,\n      ':now'",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/claim-store.ts', claimTests, [
    {
      id: 'claim-written-without-ownership',
      what: 'An owner that lost its claim can still stage a response, renew it and free it.',
      find: "atWork = '#owner = :owner AND #state IN",
      replace: "atWork = '(#owner = :owner OR attribute_exists(#owner)) AND #state IN",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/claim-store.ts', claimTests, [
    {
      id: 'claim-completed-without-ownership',
      what: 'An owner that lost its claim can still complete it.',
      find: "'#owner = :owner AND #state IN (:prepared, :done)'",
      replace: "'(#owner = :owner OR attribute_exists(#owner)) AND #state IN (:prepared, :done)'",
    },
    {
      id: 'lease-shortened',
      what: 'A late renewal shortens the lease.',
      find: '} AND leaseUntilMs <= :lease`',
      replace: '} AND (leaseUntilMs <= :lease OR attribute_exists(leaseUntilMs))`',
    },
  ]),
];

const newerClaimBugs = bugsIn('lambdas/core/idempotency/claim-store.ts', claimTests, [
  {
    id: 'newer-claim-owned',
    what: 'A claim in a state of a newer release counts as one that its owner works on.',
    find: "state: 'unknown',",
    replace: "state: 'open',",
  },
  {
    id: 'newer-claim-lease-cut',
    what: 'A claim in a state of a newer release can be replaced within its lease.',
    find: 'Math.max(claim.leaseUntilMs, claim.expiresAtMs)',
    replace: 'claim.expiresAtMs',
  },
]);

const outboxBugs = bugsIn('lambdas/stores/s3/outbox.ts', `${contracts}/outbox.contract.test.ts`, [
  {
    id: 'newer-outbox-outcome-charged',
    what: 'An outbox entry with an outcome of a newer release is charged as settled, and deleted.',
    find: "z.enum(['settled', 'released']),",
    replace: "z.string().transform(() => 'settled' as const),",
  },
]);

const itemBugs = [
  ...bugsIn('lambdas/stores/dynamodb/attribute-values.ts', holdTests, [
    {
      id: 'stored-amount-in-floats',
      what: 'A stored amount is read as a floating-point number.',
      find: '? BigInt(digits) :',
      replace: '? BigInt(Number(digits)) :',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/hold-entries.ts', 'test/lambdas/stores/dynamodb/hold-entries.test.ts', [
    {
      id: 'packed-amount-wraps',
      what: 'An amount that does not fit into a packed hold is cut off.',
      find: 'amountPicos >= 0n && amountPicos < AMOUNT_END',
      replace: 'amountPicos >= 0n',
    },
    {
      id: 'packed-hold-expires-early',
      what: 'The expiry of a packed hold is rounded down, and the hold is swept before its request ends.',
      find: 'Math.ceil((expiresAtMs - parts.atMs) / 1_000)',
      replace: 'Math.floor((expiresAtMs - parts.atMs) / 1_000)',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/ledger.ts', `${contracts}/stored-shapes.contract.test.ts`, [
    {
      id: 'newer-outcome-is-free',
      what: 'A charge with an outcome of a newer release counts as released.',
      find: "{ outcome: 'settled', newerOutcome: value }",
      replace: "{ outcome: 'released', newerOutcome: value }",
    },
    {
      id: 'newer-status-may-spend',
      what: 'An account with a status of a newer release counts as active.',
      find: "(value === 'active' ? value : 'blocked')",
      replace: "(value === 'blocked' ? value : 'active')",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/ledger-items.ts', ledgerTests, [
    {
      id: 'record-loses-its-hash',
      what: 'The stored record lacks the hash of its response.',
      find: "'answer',\n  'endUser',\n  'ignored',",
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/ledger-items.ts', `${contracts}/releases.contract.test.ts`, [
    {
      id: 'shape-changed-silently',
      what: 'A release stores the cost under another name, so that the release before it loses the cost.',
      find: '{ cost: record.costPicos }',
      replace: '{ costPicos: record.costPicos }',
    },
    {
      id: 'older-account-unreadable',
      what: 'The account of an earlier release, which has no returned amount, cannot be read after an update.',
      find: "item.returned === undefined ? 0n : readBigint(item, 'returned')",
      replace: "readBigint(item, 'returned')",
    },
  ]),
];

export const storeBugs: readonly MoneyBug[] = [
  ...ledgerBugs,
  ...entryBugs,
  ...replaceBugs,
  ...sweepBugs,
  ...creditBugs,
  ...claimBugs,
  ...newerClaimBugs,
  ...outboxBugs,
  ...itemBugs,
];
