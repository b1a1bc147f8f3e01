import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, errorCodes } from '../lambdas/core/errors/error-codes.ts';
import { retryAdviceOf } from '../lambdas/core/errors/retry-policy.ts';
import { errorNotes, toError } from './error-notes.ts';

/** Statuses after which the same request can succeed (ERR-7). */
const retryStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

const retryOf = (code: ErrorCode, status: number): string => {
  const { afterSeconds, shouldRetry } = retryAdviceOf(code);
  if (shouldRetry === false) return 'no, `x-should-retry: false`';
  if (afterSeconds !== undefined) return `yes, after ${afterSeconds} s by default`;
  return retryStatuses.has(status) ? 'yes' : 'no';
};

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Markdown of `docs/guides/errors-and-retries.md`: the text beside this file and a table of every code, by status. */
export const createErrorsPage = (): string => {
  const rows = errorCodes
    .map((code) => ({ code, error: toError(code) }))
    .toSorted((one, other) => one.error.status - other.error.status)
    .map(({ code, error }) => {
      const { when, fix } = errorNotes[code];
      const retry = retryOf(code, error.status);
      return `| ${error.status} | \`${code}\` | \`${error.type}\` | ${capitalized(when)}. | ${fix} | ${retry} |`;
    });
  const table = ['| status | code | type | cause | fix | retry |', '|---|---|---|---|---|---|', ...rows].join('\n');
  const links =
    '[Idempotent requests](idempotent-requests.md), contract: ERR-1 to ERR-9 in [behaviour.md](../behaviour.md)';
  return `${readFileSync(join(import.meta.dirname, 'errors-page.md'), 'utf8')}${table}\n\n## Links\n\n${links}\n`;
};
