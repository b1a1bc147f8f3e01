import { describe, expect, test } from 'vitest';
import { configurations } from '../../../search/account-item/configurations.ts';
import { explore } from '../../../search/account-item/explore.ts';
import { clauses } from '../../../search/account-item/item.ts';

/** See docs/decisions/account-item.md. */
describe('the planned account item', () => {
  test.for(configurations)('BILL-14 $id: every state of the search is consistent', (configuration) => {
    const { states, ends, violation } = explore(configuration);
    expect(violation).toBeUndefined();
    expect([states > 500, ends > 10]).toEqual([true, true]);
  });

  test.for(clauses)('BILL-14 without "%s" the search finds a violation', (clause) => {
    const isOfMonths = /month|replace/.test(clause);
    const searched = configurations.filter(({ tables }) => (tables.item.months !== undefined) === isOfMonths);
    const violated = searched.find((configuration) => explore(configuration, clause).violation !== undefined);
    expect(violated).toBeDefined();
  });
});
