import { expect, test } from 'vitest';
import { byId, compare } from '../../../bin/commands/catalog-changes.ts';

const row = (input: string, more: object = {}) => ({ unit: '1M_tokens', rates: { input }, ...more });

const changes = (before: object, after: object) =>
  compare(byId([{ id: 'm', ...before }]), byId([{ id: 'm', ...after }])).changed.map(
    ({ field, old, new: now, percent }) => [field, old, now, percent],
  );

test('OPS-5 a price row added at the front does not change the rows after it', () => {
  const before = { prices: [row('2', { from: '2026-01-01' })] };
  const after = { prices: [row('1', { until: '2025-12-31' }), row('2', { from: '2026-01-01' })] };
  expect(changes(before, after)).toEqual([
    ['prices[first].unit', null, '1M_tokens', null],
    ['prices[first].rates.input', null, '1', null],
    ['prices[first].until', null, '2025-12-31', null],
  ]);
});

test.each([
  ['8', '10', 25],
  ['3', '2', -33.33],
  ['0.000000000001', '0.000000000003', 200],
  ['0', '1', null],
  ['1', 'free', null],
])('OPS-5 a price change from %s to %s is %s percent', (before, after, percent) => {
  const changed = changes({ prices: [row(before)] }, { prices: [row(after)] });
  expect(changed).toEqual([['prices[first].rates.input', before, after, percent]]);
});

test('OPS-5 tiers are named by their lower bound, and other numbers have no percentage', () => {
  const tiers = (bound: number, input: string) => ({
    prices: [row('1', { tiers: [{ aboveInputTokens: bound, rates: { input } }] })],
    limits: { contextTokens: bound },
  });
  expect(changes(tiers(200, '2'), tiers(200, '3'))).toEqual([
    ['prices[first].tiers[above 200].rates.input', '2', '3', 50],
  ]);
  expect(changes({ limits: { contextTokens: 100 } }, { limits: { contextTokens: 200 } })).toEqual([
    ['limits.contextTokens', '100', '200', null],
  ]);
});

test('OPS-5 entries without an id or of an unknown shape are skipped', () => {
  const some = byId([null, 'text', { name: 'no id' }, { id: 7 }, { id: 'm', odd: null }]);
  expect([...some.keys()]).toEqual(['m']);
  expect(compare(some, some)).toEqual({ added: [], removed: [], changed: [] });
});
