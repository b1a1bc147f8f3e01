import { operator, request, sweeper, sweeperWithoutCaps } from './actors.ts';
import type { Configuration } from './explore.ts';
import type { Item, Tables } from './item.ts';

const startWith = (credited: number, changes: Partial<Item> = {}): Tables => ({
  item: {
    available: credited,
    credited,
    spent: 0,
    holds: {},
    uncollected: { day: 0, used: 0 },
    caps: {},
    ...changes,
  },
  records: {},
  credits: { first: { amount: credited, returned: 0 } },
  returns: {},
});

const cap = (limit: number) => ({ caps: { k: { left: limit, limit, period: 0 } } });

/** Each configuration is searched completely. Together they reach every clause. */
export const configurations: readonly Configuration[] = [
  {
    id: 'holds',
    actors: [request({ id: 'a', amount: 2, charge: 1 }), request({ id: 'b', amount: 2, charge: 2 }), sweeper],
    tables: startWith(3),
    faults: 1,
    crashes: 1,
    days: 0,
  },
  {
    id: 'lost-replies',
    actors: [request({ id: 'a', amount: 2, charge: 1 }), sweeper],
    tables: startWith(9),
    faults: 2,
    crashes: 0,
    days: 0,
  },
  {
    id: 'caps',
    actors: [
      request({ id: 'a', amount: 2, charge: 1, key: 'k' }),
      request({ id: 'b', amount: 2, charge: 2, key: 'k' }),
    ],
    tables: startWith(9, cap(3)),
    faults: 1,
    crashes: 0,
    days: 1,
  },
  {
    id: 'cap-swept',
    actors: [request({ id: 'a', amount: 2, charge: 1, key: 'k' }), sweeper],
    tables: startWith(9, cap(3)),
    faults: 1,
    crashes: 1,
    days: 2,
  },
  {
    id: 'cap-and-earlier-release',
    actors: [request({ id: 'a', amount: 2, charge: 1, key: 'k' }), sweeperWithoutCaps],
    tables: startWith(9, cap(3)),
    faults: 1,
    crashes: 1,
    days: 1,
  },
  {
    id: 'cap-change',
    actors: [
      request({ id: 'a', amount: 2, charge: 1, key: 'k' }),
      operator({ kind: 'change-cap', key: 'k', from: 2, to: 3 }),
    ],
    tables: startWith(9, cap(2)),
    faults: 2,
    crashes: 0,
    days: 1,
  },
  {
    id: 'allowance',
    actors: ['a', 'b', 'c'].map((id) => request({ id, amount: 1, charge: 0, uncollected: 2 })),
    tables: startWith(9),
    faults: 0,
    crashes: 1,
    days: 1,
  },
  {
    id: 'returns',
    actors: [
      operator({ kind: 'credit', ref: 'c', amount: 2 }, { kind: 'return', ref: 'r', of: 'c', amount: 2 }),
      operator({ kind: 'return', ref: 's', of: 'c', amount: 1 }, { kind: 'reverse', ref: 'r' }),
      request({ id: 'a', amount: 2, charge: 1 }),
    ],
    tables: startWith(1),
    faults: 1,
    crashes: 0,
    days: 0,
  },
];
