import { expect, test } from 'vitest';
import { toAttributes, toItem } from '../../../../lambdas/stores/dynamodb/attribute-values.ts';

test('BILL-3 integers beyond 2^53 are read as exact bigints, fractions as numbers, at every depth', () => {
  const item = toItem({
    amount: { N: '9007199254740993' },
    most: { N: `-${'9'.repeat(38)}` },
    progress: { N: '12.5' },
    holds: { M: { one: { M: { amount: { N: '18446744073709551617' } } } } },
    list: { L: [{ N: '1' }, { S: 'x' }] },
    set: { SS: ['a', 'b'] },
    shown: { BOOL: false },
    unknown: { NULL: true },
  });
  expect(item).toEqual({
    amount: 9007199254740993n,
    most: -(10n ** 38n - 1n),
    progress: 12.5,
    holds: { one: { amount: 18446744073709551617n } },
    list: [1n, 'x'],
    set: new Set(['a', 'b']),
    shown: false,
  });
});

test('BILL-3 an item is read as it was written, with integers, bytes, lists, sets and maps', () => {
  const item = {
    text: '',
    amount: -(10n ** 38n - 1n),
    progress: 12.5,
    hold: { packed: Uint8Array.from([0, 127, 128, 255]), none: new Uint8Array() },
    list: ['x', false, [9007199254740993n]],
    set: new Set(['a', 'b']),
  };
  const sent = JSON.parse(JSON.stringify(toAttributes(item)));
  expect(toItem(sent)).toEqual(item);
  expect(sent.hold).toEqual({ M: { packed: { B: 'AH+A/w==' }, none: { B: '' } } });
});

test('BILL-3 bytes that the SDK has decoded are read unchanged', () => {
  const bytes = Uint8Array.from([1, 2]);
  expect(toItem({ packed: { B: bytes } })).toEqual({ packed: bytes });
});
