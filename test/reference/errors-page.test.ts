import { expect, test } from 'vitest';
import { errorCodes } from '../../lambdas/core/errors/error-codes.ts';
import { createErrorsPage } from '../../reference/errors-page.ts';
import { readSource } from '../architecture/read-imports.ts';

const page = createErrorsPage();
const rowOf = (code: string): string => page.split('\n').find((line) => line.includes(`| \`${code}\` |`)) ?? '';

test('the committed page of errors equals its sources', () => {
  expect(readSource('docs/guides/errors-and-retries.md') === page, 'run npm run reference').toBe(true);
});

test('every error code has one row with cause, fix and retry', () => {
  for (const code of errorCodes)
    expect(
      rowOf(code)
        .split('|')
        .filter((cell) => cell.trim() !== ''),
    ).toHaveLength(6);
});

test('ERR-7 the page has the statuses to retry, the waits, and the rule for proxies', () => {
  expect(page).toMatch(/429, 500, 502, 503 and 504[\s\S]{0,120}1, 2, 5, 15 and 30 seconds/);
  expect(page).toMatch(/proxy between[\s\S]{0,80}must not buffer/);
});

test.each([
  ['idempotency_in_progress', 'yes, after 5 s by default'],
  ['idempotency_exhausted', 'no, `x-should-retry: false`'],
  ['upstream_timeout', 'yes'],
  ['insufficient_balance', 'no'],
])('ERR-2, ERR-7 the retry column of %s is "%s"', (code, retry) => {
  expect(rowOf(code).endsWith(`| ${retry} |`)).toBe(true);
});
