import { operator, operatorInMonths, reader, request, sweeper, sweeperInMonths, sweeperWithoutCaps } from './actors.ts';
import type { Configuration } from './explore.ts';
import type { Item, Return, Tables } from './item.ts';

const startWith = (credited: number, changes: Partial<Item> = {}): Tables => ({
  item: {
    available: credited,
    credited,
    spent: 0,
    holds: {},
    uncollected: { day: 0, used: 0 },
    probationUntil: 0,
    caps: {},
    ...changes,
  },
  records: {},
  credits: { first: { amount: credited, returned: 0 } },
  returns: {},
  others: {},
  counted: {},
});

/** An account with statements, in its first month. */
const inMonths = (credited: number): Tables => ({
  ...startWith(credited, { months: { month: 0, version: 0, returned: 0 } }),
  credits: { first: { amount: credited, returned: 0, month: 0 } },
  books: { closings: {}, booked: { 0: { credited, returned: 0, spent: 0 } }, misplaced: false },
});

const credit = (ref: string, amount: number) => ({ kind: 'credit', ref, amount }) as const;
const back = (type: Return['type'], ref: string, amount: number, of = 'c') =>
  ({ kind: 'return', type, ref, of, amount }) as const;
const reverse = (ref: string, of: string, amount: number) => ({ kind: 'reverse', ref, of, amount }) as const;

const cap = (limit: number) => ({ caps: { k: { left: limit, limit, period: 0 } } });

/** Each configuration is searched completely. Together they reach every clause. */
export const configurations: readonly Configuration[] = [
  {
    id: 'returns',
    actors: [
      operator(credit('c', 2), back('chargeback', 'r', 2), reverse('v', 'r', 2)),
      operator(back('refund', 's', 1), reverse('w', 'r', 2)),
      request({ id: 'a', amount: 2, charge: 1 }),
    ],
    tables: startWith(1),
    faults: 1,
    crashes: 0,
    days: 0,
  },
  {
    id: 'references',
    actors: [
      operator({ kind: 'debit', ref: 'x', amount: 1 }, back('chargeback', 'r', 2, 'first')),
      operator(back('refund', 'r', 1, 'first'), reverse('x', 'r', 2)),
      operator(reverse('w', 'r', 1), credit('x', 1)),
    ],
    tables: startWith(3),
    faults: 1,
    crashes: 1,
    days: 0,
  },
  {
    id: 'covered-debits',
    actors: [
      operator({ kind: 'debit', ref: 'x', amount: 1, covered: true }),
      operator({ kind: 'debit', ref: 'y', amount: 1, covered: true }),
      request({ id: 'a', amount: 1, charge: 1 }),
    ],
    tables: startWith(2),
    faults: 1,
    crashes: 0,
    days: 0,
  },
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
    id: 'new-cap',
    actors: [
      request({ id: 'a', amount: 2, charge: 1, key: 'k' }),
      operator({ kind: 'new-cap', key: 'k', limit: 3 }),
      sweeper,
    ],
    tables: startWith(9, cap(2)),
    faults: 0,
    crashes: 0,
    days: 1,
  },
  {
    id: 'allowance',
    actors: [3, 1, 2].map((uncollected, index) => request({ id: `r${index}`, amount: 1, charge: 0, uncollected })),
    tables: startWith(9),
    faults: 0,
    crashes: 1,
    days: 1,
  },
  {
    id: 'chargeback-while-held',
    actors: [
      request({ id: 'a', amount: 2, charge: 2 }),
      operator(back('chargeback', 'r', 3, 'first'), { kind: 'debit', ref: 'x', amount: 1 }),
      sweeper,
    ],
    tables: startWith(3),
    faults: 1,
    crashes: 0,
    days: 0,
  },
  {
    id: 'month-end',
    actors: [request({ id: 'a', amount: 2, charge: 1, months: true }), operatorInMonths(credit('c', 1)), reader],
    tables: inMonths(3),
    faults: 0,
    crashes: 1,
    days: 2,
  },
  {
    id: 'month-end-of-two-requests',
    actors: [
      request({ id: 'a', amount: 1, charge: 1, months: true }),
      request({ id: 'b', amount: 1, charge: 1, months: true }),
    ],
    tables: inMonths(3),
    faults: 1,
    crashes: 0,
    days: 1,
  },
  {
    id: 'month-end-of-a-crash',
    actors: [request({ id: 'a', amount: 2, charge: 1, months: true }), sweeperInMonths],
    tables: inMonths(3),
    faults: 1,
    crashes: 1,
    days: 1,
  },
  {
    id: 'returns-in-months',
    actors: [
      operatorInMonths(back('chargeback', 'r', 2, 'first'), reverse('v', 'r', 2)),
      operatorInMonths({ kind: 'debit', ref: 'x', amount: 1 }),
      reader,
    ],
    tables: inMonths(3),
    faults: 1,
    crashes: 0,
    days: 1,
  },
];
