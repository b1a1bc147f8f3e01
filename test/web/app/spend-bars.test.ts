import { expect, test } from 'vitest';
import { SERIES_MAX, toBars } from '../../../web/app/spend-bars.ts';

const spent = (model: string | null, cost_usd: string) => ({ model, cost_usd, requests: 1 });
const day = (date: string, models: readonly ReturnType<typeof spent>[], cost_usd: string) => ({
  ...{ day: date, cost_usd, requests: models.length, failed: 0, models },
});

test('KEY-4 the chart stacks the models of a day, the most expensive at the bottom', () => {
  const { bars, series, topUsd } = toBars({
    days: [day('2026-11-21', [spent('a', '0.1'), spent('b', '0.3')], '0.4'), day('2026-11-22', [], '0')],
    models: [spent('a', '0.1'), spent('b', '0.3'), spent('free', '0')],
  });
  expect(topUsd).toBe('0.4');
  expect(series.map(({ models }) => models)).toEqual([['b'], ['a']]);
  expect(bars.map(({ segments }) => segments)).toEqual([
    [
      { series: 0, top: 0.25, height: 0.75 },
      { series: 1, top: 0, height: 0.25 },
    ],
    [],
  ]);
});

test('KEY-4 models without a color of their own are combined', () => {
  const models = Array.from({ length: SERIES_MAX + 2 }, (_, index) => spent(`m${index}`, `${9 - index}`));
  const { series, bars } = toBars({ days: [day('2026-11-22', models, '44')], models });
  expect(series).toHaveLength(SERIES_MAX);
  expect(series.at(-1)).toEqual({ models: ['m5', 'm6', 'm7'], isRest: true, costUsd: '9' });
  expect(bars[0]?.segments.at(-1)?.height).toBe(9 / 50);
});

test.each([
  ['0.000000000001', '0.000000000001'],
  ['0.0000071', '0.000008'],
  ['0.51', '0.6'],
  ['9.01', '10'],
  ['123456789012.5', '200000000000'],
])('KEY-4 the scale of a chart whose highest day is %s ends at %s', (cost, top) => {
  const models = [spent('m', cost)];
  expect(toBars({ days: [day('2026-11-22', models, cost)], models }).topUsd).toBe(top);
});
