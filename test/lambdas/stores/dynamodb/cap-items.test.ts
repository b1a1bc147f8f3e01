import { expect, test } from 'vitest';
import { type Caps, toCap } from '../../../../lambdas/core/ledger/caps.ts';
import {
  holdCapValue,
  toCapHold,
  toCapReplacement,
  toCapReturn,
  toCaps,
  toHoldCap,
} from '../../../../lambdas/stores/dynamodb/cap-items.ts';
import type { Item } from '../../../../lambdas/stores/dynamodb/item.ts';

const PERIOD = '2:2026-11-01';

test('KEY-9 a hold of an API key without a cap adds nothing to its update', () => {
  const none = { set: '', condition: '', names: {}, values: {} };
  expect([toCapHold(undefined, 1n), toCapReturn(undefined)]).toEqual([none, none]);
});

test('KEY-9 a hold names its period, and the period that it ends', () => {
  expect(toCapHold({ keyId: 'k', period: PERIOD }, 5n)).toMatchObject({
    set: ', caps.#cap.#left = caps.#cap.#left - :amount',
    condition: ' AND caps.#cap.#period = :period AND caps.#cap.#left >= :amount',
    values: { ':period': PERIOD },
  });
  const move = { keyId: 'k', period: PERIOD, ends: '2:2026-10-31' };
  const keeps = 'caps.#cap.#period = :period, caps.#cap.#ended = caps.#cap.#left';
  const names = { '#cap': 'k', '#left': 'left', '#period': 'period', '#ended': '2026-10-31', '#started': '2026-11-01' };
  const values = { ':period': PERIOD, ':ends': '2:2026-10-31' };
  expect(toCapHold(move, 5n)).toEqual({
    set: `, caps.#cap.#left = caps.#cap.#limit - :amount, ${keeps}`,
    condition:
      ' AND caps.#cap.#period = :ends AND caps.#cap.#limit >= :amount AND attribute_not_exists(caps.#cap.#started)',
    removed: [],
    names: { ...names, '#limit': 'limit' },
    values,
  });
  expect(toCapHold({ ...move, start: 'kept', forgets: ['2026-10-20'] }, 5n)).toEqual({
    set: `, caps.#cap.#left = caps.#cap.#started - :amount, ${keeps}`,
    condition: ' AND caps.#cap.#period = :ends AND caps.#cap.#started >= :amount',
    removed: ['caps.#cap.#started', 'caps.#cap.#forgotten0'],
    names: { ...names, '#forgotten0': '2026-10-20' },
    values,
  });
  expect(toCapHold({ ...move, start: { leftPicos: 30n, seenPicos: 20n } }, 5n)).toMatchObject({
    set: `, caps.#cap.#left = caps.#cap.#left - :less, ${keeps}`,
    values: { ...values, ':seen': 20n, ':less': -5n },
  });
  expect(toCapHold({ keyId: 'k', period: undefined }, 5n)).toEqual({
    set: '',
    condition: ' AND attribute_not_exists(caps.#cap)',
    names: { '#cap': 'k' },
    values: {},
  });
});

test('KEY-9 a replacement writes the caps that differ, and no map without caps', () => {
  const one = toCap(70n, 30n, PERIOD, new Map([['2026-10-31', 7n]]));
  const other = toCap(9n, 9n, '3:total');
  const value = { limit: 70n, left: 30n, period: PERIOD, '2026-10-31': 7n };
  const empty: Caps = new Map();
  const nothing = { set: '', removed: [], names: {}, values: {} };
  const first = new Map([['k', one]]);
  expect([toCapReplacement(empty, empty), toCapReplacement(first, new Map(first))]).toEqual([nothing, nothing]);
  expect(toCapReplacement(empty, first)).toEqual({
    ...nothing,
    set: ', caps = :caps',
    values: { ':caps': { k: value } },
  });
  expect(toCapReplacement(first, empty)).toEqual({ ...nothing, removed: ['caps'] });
  expect(toCapReplacement(new Map([['l', other]]), first)).toEqual({
    set: ', caps.#cap0 = :cap0',
    removed: ['caps.#gone0'],
    names: { '#cap0': 'k', '#gone0': 'l' },
    values: { ':cap0': value },
  });
  expect(toCapReplacement(first, new Map([...first, ['l', other]]))).toMatchObject({
    set: ', caps.#cap0 = :cap0',
    names: { '#cap0': 'l' },
  });
});

test('KEY-9 a cap is read with the days that it keeps, and without attributes of newer releases', () => {
  const value = { limit: 70n, left: 30n, period: PERIOD, '2026-10-31': 7n, total: 'newer', '2026-W44': 'newer' };
  expect(toCaps({ caps: { k: value } })).toEqual(
    new Map([['k', toCap(70n, 30n, PERIOD, new Map([['2026-10-31', 7n]]))]]),
  );
});

test('OPS-11 a cap that this release cannot read has nothing left', () => {
  expect(toCaps({})).toEqual(new Map());
  const newer = (period: string) => ({ limitPicos: 0n, leftPicos: -1n, kind: 'total', period });
  const value = { limit: 70n, left: 30n };
  expect(
    toCaps({ caps: { a: { ...value, period: PERIOD }, b: { ...value, period: '2:2026-W48' }, c: value, d: 7n } }),
  ).toEqual(
    new Map([
      ['a', { limitPicos: 70n, leftPicos: 30n, kind: 'day', period: PERIOD }],
      ['b', newer('2:2026-W48')],
      ['c', newer('')],
      ['d', newer('')],
    ]),
  );
});

test('KEY-9 the cap of a record is read as it was stored, and ignored in another form', () => {
  const cap = { keyId: 'k', period: PERIOD };
  expect(toHoldCap(holdCapValue(cap))).toEqual(cap);
  const others: readonly Item[] = [{}, { key: 'k' }, { key: 'k', period: '2:2026-W48' }];
  for (const value of [undefined, ...others]) expect(toHoldCap(value)).toBeUndefined();
});
