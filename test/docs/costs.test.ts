import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { frontDoors, functionHost, webHost } from '../../bin/costs/estimate.ts';
import { costOf, type Price, prices } from '../../bin/costs/prices.ts';
import { toTables, withTables } from '../../bin/costs/tables.ts';
import { workloads } from '../../bin/costs/workloads.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';

const document = readFileSync(join(import.meta.dirname, '../../docs/costs.md'), 'utf8');

test('the tables of costs are what the prices come to', () => {
  expect(withTables(document, toTables()) === document, 'docs/costs.md is outdated. Run npm run costs.').toBe(true);
});

test('a table without a place, or a place without a table, is an error', () => {
  expect(() => withTables('', { hosts: '' })).toThrow('no place for hosts');
  expect(() => withTables('<!-- costs: x -->\n<!-- /costs -->', {})).toThrow('no table "x"');
});

test('every price has a source and a day that has been', () => {
  for (const { source, asOf, unit } of Object.values<Price>(prices)) {
    expect([URL.canParse(source), /^2026-\d\d-\d\d$/.test(asOf), unit.length > 2]).toEqual([true, true, true]);
  }
});

test.each([
  // 3 s of 1 GB at 0.0000133334 and a call at 0.0000002, a million times.
  ['a chat of 3 s in 1,024 MB', functionHost(workloads.shortChat, 1_024), '40.2002'],
  ['the same in 512 MB', functionHost(workloads.shortChat, 512), '20.2001'],
  // A GB at 0.085 is 0.17, a request with firewall and function 0.0000017, its line in the log 0.0000003, 1 KB to the origin 0.00000002.
  ['CloudFront before it', frontDoors.cloudfront(workloads.shortChat), '2.19'],
  // 20 more calls for the 200 MB than there are requests.
  ['nothing before a video', frontDoors.none(workloads.video), '18000'],
])('a million of %s', (_title, { picos }, expected) => {
  expect(formatUsd(picos ?? -1n)).toBe(expected);
});

test('what has no published price has no sum', () => {
  expect(costOf('webCpuSecond', 1)).toBeUndefined();
  expect(webHost(workloads.shortChat, 64).picos).toBeUndefined();
});
