import { expect, test } from 'vitest';
import { mergeUsage } from '../../../lambdas/providers/merge-usage.ts';

const earlier = { input: 1_200, details: { cached: 5, tier: 'a' }, kinds: [{ kind: 'TEXT', count: 7 }] };

test.for([
  ['a zero', { input: 0, details: { cached: 0 } }],
  ['null', { input: null, details: null, kinds: null }],
  ['nothing', {}],
  ['a negative count', { input: -1, details: { cached: -1 } }],
  ['text', { input: '3', details: 'x', kinds: 'x' }],
  ['a smaller count', { input: 7, kinds: [{ kind: 'TEXT', count: 6 }] }],
  ['an empty list', { kinds: [] }],
] as const)('BILL-11 %s never erases an earlier count', ([, later]) => {
  expect(mergeUsage(earlier, later)).toEqual(earlier);
});

test('BILL-11 the larger count stays, wherever it is', () => {
  const later = { input: 1_300, output: 4, details: { cached: 6, written: 2, tier: 'b' } };
  expect(mergeUsage(earlier, later)).toEqual({ ...earlier, ...later });
  expect(mergeUsage({ input: null, output: -1, details: 'x' }, later)).toMatchObject(later);
});

test('BILL-11 counts in a list are merged by their kind, and kinds are added', () => {
  const kinds = [
    { count: 40, kind: 'IMAGE' },
    { kind: 'TEXT', count: 3 },
  ];
  expect(mergeUsage(earlier, { kinds }).kinds).toEqual([kinds[0], { kind: 'TEXT', count: 7 }]);
  expect(mergeUsage({ kinds }, { kinds: earlier.kinds }).kinds).toEqual([{ kind: 'TEXT', count: 7 }, kinds[0]]);
  const twice = [{ count: 1 }, { count: 9 }];
  expect(mergeUsage({ kinds: twice }, { kinds: [{ count: 2 }] }).kinds).toEqual([{ count: 2 }, { count: 9 }]);
});

test('BILL-11 a member of a special name is a member like others', () => {
  const merged = mergeUsage(JSON.parse('{"input":5}'), JSON.parse('{"__proto__":{"input":9,"output":1}}'));
  expect([merged.input, merged.output, Object.keys(merged)]).toEqual([5, undefined, ['input', '__proto__']]);
});
