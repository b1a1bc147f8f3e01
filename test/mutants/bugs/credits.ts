import { bugsIn, type MoneyBug } from './money-bug.ts';

const ledgerTests = 'test/contracts/ledger-store.contract.test.ts';
const returnTests = 'test/contracts/ledger-returns.contract.test.ts';
const coreTests = 'test/lambdas/core/ledger/credit-returns.test.ts';
const limitTests = 'test/local/stores/sqlite/ledger-store-limits.test.ts';
const sqliteTests = 'test/local/stores/sqlite/credits.test.ts';
const auditTests = 'test/lambdas/core/ledger/audit-credits.test.ts';
const webhookTests = 'test/lambdas/protocols/credits/refusal-text.test.ts';

const coreBugs = [
  ...bugsIn('lambdas/core/ledger/credit.ts', coreTests, [
    {
      id: 'return-of-an-unknown-credit',
      what: 'A refund of an unknown payment is accepted as a debit.',
      find: "if (!named) return { kind: 'unknown-of' };",
      replace: "if (!named) return { kind: 'new' };",
    },
    {
      id: 'return-of-a-return',
      what: 'A refund can be refunded.',
      find: "if (credit.type !== 'credit') return",
      replace: "if (credit.type === 'debit') return",
    },
    {
      id: 'rest-of-the-credit-ignored',
      what: 'The refusal names the whole payment as the rest, although a part is refunded.',
      find: 'credit.amountPicos - (credit.returnedPicos ?? 0n);',
      replace: 'credit.amountPicos;',
    },
    {
      id: 'reversal-of-the-same-chargeback',
      what: 'A second reversal names a chargeback that is reversed already, and is retried until it fails.',
      find: 'equal.find(({ reversedBy }) => reversedBy === undefined);',
      replace: 'equal.find(({ reversedBy }) => reversedBy !== null);',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/credit-record.ts', returnTests, [
    {
      id: 'used-ref-with-another-type',
      what: 'A refund with the reference of a payment counts as its repetition, and is lost.',
      find: 'record.type === type && record.amountPicos',
      replace: 'record.amountPicos',
    },
    {
      id: 'used-ref-with-another-credit',
      what: 'A refund of another payment counts as a repetition, and is lost.',
      find: ' && record.of === of;',
      replace: ';',
    },
    {
      id: 'chargeback-added',
      what: 'A chargeback adds its amount to the balance.',
      find: "type === 'credit' || type === 'chargeback_reversed' ? amountPicos",
      replace: "type === 'credit' || type.startsWith('chargeback') ? amountPicos",
    },
  ]),
  ...bugsIn('lambdas/core/ledger/audit-credits.ts', auditTests, [
    {
      id: 'audit-without-returns',
      what: 'The audit does not notice refunds above their payment.',
      find: 'if (returned === returnedPicos && returned <= amountPicos) return undefined;',
      replace: 'if (returned === returnedPicos) return undefined;',
    },
    {
      id: 'audit-without-reversals',
      what: 'The audit does not notice a chargeback that was reversed twice.',
      find: 'return count === 1 ? undefined',
      replace: 'return count > 0 ? undefined',
    },
  ]),
  ...bugsIn('lambdas/protocols/credits/handler.ts', webhookTests, [
    {
      id: 'refund-credited',
      what: 'A reported refund is credited as a payment.',
      find: 'ref, type, ...named, amountPicos: amount_usd',
      replace: "ref, type: type && 'credit', amountPicos: amount_usd",
    },
    {
      id: 'debit-by-webhook',
      what: 'A payment provider can take any amount from an account.',
      find: "z.enum(['credit', ...returnTypes])",
      replace: "z.enum(['credit', ...returnTypes, 'debit' as 'credit'])",
    },
  ]),
];

const sqliteBugs = bugsIn('local/stores/sqlite/credits.ts', returnTests, [
  {
    id: 'sqlite-credit-without-a-record',
    what: 'The embedded ledger credits a payment without its reference, and credits a repeat again.',
    find: '  insertCredit(db, request, after.month);\n',
    replace: '',
    caughtBy: ledgerTests,
  },
  {
    id: 'sqlite-credit-of-another-amount',
    what: 'The embedded ledger treats a smaller payment with a used reference as a repeat.',
    find: 'isRepeat(present, request) ?',
    replace: 'present.amountPicos >= amountPicos ?',
    caughtBy: ledgerTests,
  },
  {
    id: 'sqlite-credits-overflow',
    what: 'The embedded ledger limits each payment but not the sum of them.',
    find: 'const leftPicos = CREDIT_MAX_PICOS - creditedPicos;',
    replace: 'const leftPicos = CREDIT_MAX_PICOS;',
    caughtBy: limitTests,
  },
  {
    id: 'sqlite-debits-overflow',
    what: 'The embedded ledger accepts a debit that its numbers cannot hold.',
    find: 'availablePicos + changePicos < -CREDIT_MAX_PICOS',
    replace: 'changePicos < -2n * CREDIT_MAX_PICOS',
    caughtBy: sqliteTests,
  },
  {
    id: 'sqlite-debit-below-zero',
    what: 'In the embedded ledger, concurrent debits take more than the account has.',
    find: 'if (isCovered && before.availablePicos < amountPicos) {',
    replace: 'if (isCovered && before.availablePicos < 0n) {',
  },
  {
    id: 'sqlite-return-above-its-credit',
    what: 'The embedded ledger refunds more than the payment was.',
    find: ' || returned > target.creditAmountPicos) return false;',
    replace: ') return false;',
  },
  {
    id: 'sqlite-return-not-counted',
    what: 'The embedded ledger refunds a payment again and again, because it does not count its refunds.',
    find: 'update.run(returned, accountId, target.creditRef);',
    replace: 'update.run(0n, accountId, target.creditRef);',
  },
  {
    id: 'sqlite-chargeback-reversed-twice',
    what: 'In the embedded ledger, two reversals of one chargeback restore its amount twice.',
    find: ' && chargeback.reversedBy === undefined;',
    replace: ';',
  },
  {
    id: 'sqlite-available-without-credited',
    what: 'In the embedded ledger, a refund lowers what can be spent but not the balance.',
    find: 'replaceAccount(db, before, after, request.at);',
    replace: 'replaceAccount(db, before, { ...after, creditedPicos: before.creditedPicos }, request.at);',
  },
]);

const months = 'test/contracts/ledger-months.contract.test.ts';
const monthBugs = [
  ...bugsIn(
    'lambdas/core/ledger/month.ts',
    [months, 'test/lambdas/core/ledger/month.test.ts'],
    [
      {
        id: 'late-call-reopens-a-month',
        what: 'A call that lands after the end of a month moves the account back into the closed month.',
        find: 'return present > month ? present : month;',
        replace: 'return present;',
      },
      {
        id: 'later-holds-in-a-closing',
        what: 'The closing of a month also has the holds of requests after its end.',
        find: 'held -= amountPicos;',
        replace: 'held -= 0n * amountPicos;',
      },
    ],
  ),
  ...bugsIn('lambdas/core/ledger/change-credit.ts', months, [
    {
      id: 'debit-not-returned',
      what: 'A debit lowers the credits of its month in the statement, instead of being listed as a return.',
      find: "change.type === 'credit' ?",
      replace: "change.type === 'credit' || change.type === 'debit' ?",
    },
  ]),
  ...bugsIn('lambdas/core/ledger/statement.ts', 'test/contracts/statement-traffic.contract.test.ts', [
    {
      id: 'closed-statement-follows-late-records',
      what: 'A record that is written late changes the statement of a closed month.',
      find: 'return deps.records.keepCharges(accountId, month, charges, kept?.beforeHoldId);',
      replace: 'return charges;',
    },
    {
      id: 'part-of-a-month-taken-for-all',
      what: 'The charges of a month with many receipts stay those of the first read.',
      find: 'if (kept && kept.beforeHoldId === undefined) return kept;',
      replace: 'if (kept) return kept;',
    },
    {
      id: 'receipts-of-a-month-summed-twice',
      what: 'The next read of a closed month starts at its end again, and adds receipts that are in the sums.',
      find: 'before.beforeHoldId ?? firstIdAt(endMs)',
      replace: 'firstIdAt(endMs)',
    },
    {
      id: 'statement-read-without-a-limit',
      what: 'One read of a statement reads all receipts of the month, and can throttle the account.',
      find: 'read < RECORDS_MAX; read += PAGE',
      replace: 'read < RECORDS_MAX; read += 0',
    },
    {
      id: 'statement-of-an-open-month-kept',
      what: 'A month that is over, but has no write after it, is returned as open and can still change.',
      find: 'store.closeMonths(accountId, clock.now())',
      replace: 'store.closeMonths(accountId, 0)',
      caughtBy: 'test/lambdas/core/ledger/statement.test.ts',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/statement-records.ts', months, [
    {
      id: 'slower-read-over-stored-charges',
      what: 'A slower read of a closed month replaces the charges that another read has stored since.',
      find: "condition: 'beforeHoldId = :seen'",
      replace: "condition: 'attribute_exists(pk) OR beforeHoldId = :seen'",
    },
    {
      id: 'place-of-a-part-not-stored',
      what: 'A part of the charges of a closed month is stored as all of them.',
      find: '...(beforeHoldId === undefined ? {} : { beforeHoldId }),',
      replace: '...(beforeHoldId === undefined ? {} : {}),',
    },
  ]),
  ...bugsIn('local/stores/sqlite/statement-records.ts', months, [
    {
      id: 'sqlite-slower-read-over-stored-charges',
      what: 'In the embedded ledger a slower read of a closed month replaces the charges that are stored.',
      find: 'WHERE month_charges.before_hold_id = ?`',
      replace: 'WHERE month_charges.before_hold_id IS NOT ?`',
    },
  ]),
  ...bugsIn('local/stores/sqlite/replace-account.ts', months, [
    {
      id: 'sqlite-closing-of-the-later-sums',
      what: 'The embedded ledger stores the first charge of a month in the closing of the month before.',
      find: 'closingsBefore(before, nowMs)',
      replace: 'closingsBefore({ ...after, month: before.month }, nowMs)',
    },
  ]),
];

export const creditBugs: readonly MoneyBug[] = [...coreBugs, ...sqliteBugs, ...monthBugs];
