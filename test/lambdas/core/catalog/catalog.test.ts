import { describe, expect, test } from 'vitest';
import { catalogWarnings } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { at, image, load, price, text } from './sample-data.ts';

const now = at('2026-11-20');
const retiring = (shutdownDate: string, replacement?: string) => ({
  shutdownDate,
  ...(replacement && { replacement }),
});

describe('CAT-1 the list', () => {
  test('CAT-1 the list has the enabled entries of every kind in file order, without aliases', () => {
    const catalog = load([text({ aliases: ['alpha-x'] }), text({ id: 'off', enabled: false }), image()]);
    expect(catalog.list(now).map(({ id }) => id)).toEqual(['alpha-1', 'paint-1']);
    expect(catalog.entries).toHaveLength(3);
  });

  test('CAT-6 `find` accepts ids and aliases only', () => {
    const catalog = load([text({ aliases: ['alpha-x'] }), text({ id: 'off', enabled: false })]);
    expect(catalog.find('alpha-1', now)?.id).toBe('alpha-1');
    expect(catalog.find('alpha-x', now)?.id).toBe('alpha-1');
    for (const id of ['off', 'ALPHA-1', '', 'constructor', '__proto__']) expect(catalog.find(id, now)).toBeUndefined();
  });
});

describe('CAT-4 shutdown', () => {
  test('CAT-4 a model and its aliases are gone from 00:00 UTC of the shutdown date', () => {
    const catalog = load([text({ lifecycle: retiring('2026-12-01'), aliases: ['alpha-x'] })]);
    expect(catalog.find('alpha-1', Date.parse('2026-11-30T23:59:59.999Z'))).toBeDefined();
    for (const id of ['alpha-1', 'alpha-x'])
      expect(catalog.find(id, Date.parse('2026-12-01T00:00:00Z'))).toBeUndefined();
    expect(catalog.list(at('2026-12-01'))).toEqual([]);
  });

  test('CAT-4 the message names the shutdown date and the replacement', () => {
    const catalog = load([text({ lifecycle: retiring('2026-11-01', 'paint-1'), aliases: ['alpha-x'] }), image()]);
    for (const id of ['alpha-1', 'alpha-x'])
      expect(catalog.explainMissing(id, now)).toBe(
        `The model "${id}" was shut down on 2026-11-01. Use "paint-1" instead.`,
      );
  });

  test('CAT-4 replacements of retired models are followed, and a cycle yields the nearest id', () => {
    const chain = (last: object) =>
      load([
        text({ lifecycle: retiring('2026-11-01', 'b') }),
        text({ id: 'b', lifecycle: retiring('2026-11-02', 'c') }),
        text({ id: 'c', ...last }),
        text({ id: 'alpha-2' }),
      ]).explainMissing('alpha-1', now);
    expect(chain({})).toContain('Use "c" instead');
    expect(chain({ lifecycle: retiring('2026-11-03', 'b') })).toContain('The nearest model id is "alpha-2"');
  });

  test('CAT-4 a retired model without a replacement gets the nearest id', () => {
    const catalog = load([text({ lifecycle: retiring('2026-11-01') }), text({ id: 'alpha-2' }), image()]);
    expect(catalog.explainMissing('alpha-1', now)).toBe(
      'The model "alpha-1" was shut down on 2026-11-01. The nearest model id is "alpha-2".',
    );
  });
});

describe('CAT-6 unknown models', () => {
  test('CAT-6 the message names the nearest enabled id or alias', () => {
    const catalog = load([text({ aliases: ['alpha-1-thinking'] }), image(), text({ id: 'paint-2', enabled: false })]);
    expect(catalog.nearest('Alpha-I', now)).toBe('alpha-1');
    expect(catalog.nearest('alpha-1-thinkin', now)).toBe('alpha-1-thinking');
    expect(catalog.nearest('a-long-provider/alpha-1', now)).toBe('alpha-1');
    expect(catalog.nearest('alpha-1/', now)).toBeUndefined();
    expect(catalog.explainMissing('paint-2', now)).toBe(
      'The model "paint-2" does not exist or is not enabled. The nearest model id is "paint-1".',
    );
  });

  test('CAT-6 a very long id is truncated in the message', () => {
    const catalog = load([text()]);
    const message = catalog.explainMissing('alpha-1'.repeat(1_000_000), now);
    expect(message.length).toBeLessThan(200);
  });

  test('CAT-6 an empty catalog suggests the list', () => {
    expect(load([]).explainMissing('alpha-1', now)).toBe(
      'The model "alpha-1" does not exist or is not enabled. GET /v1/models lists the models.',
    );
  });
});

describe('CAT-5 warnings', () => {
  const fields = (changes: object) => catalogWarnings(load([text({ ...changes })]), now).map(({ field }) => field);

  test.each([
    ['2027-01-19', 1],
    ['2027-01-20', 0],
    ['2026-11-01', 1],
  ])('CAT-5 a shutdown on %s is warned about on 2026-11-20 if it is at most 60 days away', (day, expected) => {
    expect(fields({ lifecycle: retiring(day) })).toHaveLength(expected);
  });

  test.each([
    ['2026-11-19', 0],
    ['2026-11-20', 1],
    ['2026-12-20', 1],
    ['2026-12-21', 0],
  ])('CAT-5 a price that ends on %s is warned about on 2026-11-20 if 0 to 30 days are left', (until, expected) => {
    expect(fields({ prices: [price({ until })] })).toHaveLength(expected);
  });

  test('CAT-5 enabled entries with unverified facts produce a warning', () => {
    expect(fields({ verification: 'partly_unverified' })).toEqual(['verification']);
    expect(fields({ verification: 'partly_unverified', enabled: false })).toEqual([]);
  });
});
