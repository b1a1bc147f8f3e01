import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { frontDoors, functionHost, natTraffic, webHost } from '../../bin/costs/estimate.ts';
import { costOf, type Price, prices } from '../../bin/costs/prices.ts';
import { toScalingTables, toTables, withTables } from '../../bin/costs/tables.ts';
import { workloads } from '../../bin/costs/workloads.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';

test.each([
  ['docs/operations/costs.md', toTables()],
  ['docs/operations/scaling.md', toScalingTables()],
])('the tables of %s equal the computed values', (path, tables) => {
  const document = readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  expect(withTables(document, tables, path) === document, `${path} is outdated. Run npm run costs.`).toBe(true);
});

test('a table without a place, or a place without a table, is an error', () => {
  expect(() => withTables('', { hosts: '' }, 'a.md')).toThrow('a.md has no place for hosts');
  expect(() => withTables('<!-- costs: x -->\n<!-- /costs -->', {}, 'a.md')).toThrow('no table "x"');
});

test('every price has a source and a date that is not in the future', () => {
  for (const { source, asOf, unit } of Object.values<Price>(prices)) {
    expect([URL.canParse(source), /^2026-\d\d-\d\d$/.test(asOf), unit.length > 2]).toEqual([true, true, true]);
  }
});

test.each([
  // 3 GB-seconds at 0.0000133334 each and one request at 0.0000002, times a million.
  ['a chat of 3 s in 1,024 MB', functionHost(workloads.shortChat, 1_024), '40.2002'],
  ['the same in 512 MB', functionHost(workloads.shortChat, 512), '20.2001'],
  // 2 GB at 0.085 are 0.17. Each request: 0.0000017 with firewall and function, 0.0000003 for its log line, 0.00000002
  // for 1 KB to the origin.
  ['CloudFront before it', frontDoors.cloudfront(workloads.shortChat), '2.19'],
  // 1 KB to the provider and 2 KB back: 3 GB at 0.045.
  ['NAT gateways before providers', natTraffic(workloads.shortChat), '0.135'],
  // 0.2 GB at 0.09, times a million.
  ['nothing before a video', frontDoors.none(workloads.video), '18000'],
])('the cost of a million of %s', (_title, { picos }, expected) => {
  expect(formatUsd(picos ?? -1n)).toBe(expected);
});

test('a host without a published price has no total', () => {
  expect(costOf('webCpuSecond', 1)).toBeUndefined();
  expect(webHost(workloads.shortChat, 64).picos).toBeUndefined();
});
