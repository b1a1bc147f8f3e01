import { describe, expect, test } from 'vitest';
import { configurations } from '../../../search/account-item/configurations.ts';
import { explore } from '../../../search/account-item/explore.ts';
import { clauses } from '../../../search/account-item/item.ts';
import { currentTier, rowsOfTier } from '../../../tiers.ts';

/** Configurations with the most states. Only the long tier searches all of them. */
const largest: readonly string[] = ['month-end-of-a-crash', 'month-end-of-two-requests', 'returns-in-months'];

/** The quick tier ends fewer days, and leaves out the largest configurations. */
const searched = rowsOfTier(
  configurations.flatMap((each) => (each.days > 1 ? [{ ...each, days: 1 }, each] : [each])),
  ({ id }) => id,
).filter(({ id }) => currentTier() === 'long' || !largest.includes(id));

/**
 * Configuration that violates a rule soon without the clause. The search tries it first, and the others only if it
 * finds nothing.
 */
const firstTried: Readonly<Record<string, string>> = {
  'hold: enough is available': 'holds',
  'hold: the number of holds is limited': 'allowance',
  'hold: the allowance of the day is left': 'allowance',
  'hold: the cap has the period of the request': 'caps',
  'hold: the cap covers the amount': 'caps',
  'record: the hold has no record': 'lost-replies',
  'apply: the hold is open': 'cap-swept',
  'apply: a release without caps leaves holds with a cap': 'cap-and-earlier-release',
  'apply: the cap still has the period of the hold': 'caps',
  'hold: the amount of its day before a later day counts': 'allowance',
  'hold: an account on probation has no open hold': 'allowance',
  'apply: the amounts are of one day': 'allowance',
  'apply: a day keeps its amount': 'allowance',
  'apply: the amount starts a probation': 'allowance',
  'apply: the month of the call has begun': 'month-end-of-a-crash',
  'credit: the account is in the month of the call': 'month-end',
  'replace: no other write came first': 'month-end-of-two-requests',
  'credit: the reference is new': 'references',
  'return: the reference is new': 'references',
  'return: the credit covers it': 'returns',
  'reversal: the reference is new': 'references',
  'reversal: it is not reversed yet': 'returns',
  'reversal: it is a chargeback': 'references',
  'reversal: it has the amount of the chargeback': 'references',
  'debit: the reference is new': 'chargeback-while-held',
  'debit: enough is available': 'covered-debits',
  'cap change: the API key has the old cap': 'cap-change',
  'new cap: its period is of a new epoch': 'new-cap',
};

/** See docs/decisions/account-item.md. */
describe('the account item', () => {
  test.for(searched)('BILL-14 $id, days: $days: every state of the search is consistent', (configuration) => {
    const { states, ends, violation } = explore(configuration);
    expect(violation).toBeUndefined();
    expect([states > 500, ends > 10]).toEqual([true, true]);
  });

  test.for(clauses)('BILL-14 without "%s" the search finds a violation', (clause) => {
    const isFirst = ({ id }: { readonly id: string }): boolean => id === firstTried[clause];
    const inOrder = [...configurations.filter(isFirst), ...configurations.filter((each) => !isFirst(each))];
    const violated = inOrder.find((configuration) => explore(configuration, clause).violation !== undefined);
    expect(violated).toBeDefined();
  });
});
