import { errorCodes } from '../lambdas/core/errors/gateway-error.ts';
import { errorNotes, toError } from './error-notes.ts';

/** Every code with its status, in the order of the statuses. */
export const errorTable = (): string => {
  const rows = errorCodes
    .map(toError)
    .toSorted((one, other) => one.status - other.status)
    .map(({ status, code }) => `| ${status} | \`${code}\` | ${errorNotes[code].when} |`);
  return ['| status | code | when |', '|---|---|---|', ...rows].join('\n');
};
