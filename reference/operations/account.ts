import { MONTH_FORM } from '../../lambdas/core/ledger/month.ts';
import { type summaryParameters, usageGroups } from '../../lambdas/protocols/account/get-usage-summary.ts';
import { usageOutcomes, type usageParameters } from '../../lambdas/protocols/account/usage-query.ts';
import { toCsv } from '../../lambdas/protocols/account/usage-row.ts';
import { account, statement, usageList, usageRow, usageSummary } from '../answers/account.ts';
import { dayForm, momentForm, orEmpty, receiptIdForm } from '../answers/forms.ts';
import type { Operation } from '../operation.ts';
import { limit, type Parameter, query } from '../parameters.ts';

const format = (description: string): Parameter =>
  query('format', description, { type: 'string', enum: ['json', 'csv'], default: 'json' });

const bom = query(
  'bom',
  'Whether a CSV table starts with a UTF-8 byte order mark, which Excel needs for letters outside of ASCII.',
  { type: 'string', enum: ['true', 'false', ''] },
);

const moment = 'a day such as 2026-11-20 or a time such as 2026-11-20T08:00:00Z, in UTC';

const parameters: Record<(typeof usageParameters)[number], Parameter> = {
  from: query('from', `Oldest request to list: ${moment}.`, orEmpty(momentForm)),
  to: query('to', `Newest request to list: ${moment}. A day is included, a time is not.`, orEmpty(momentForm)),
  day: query('day', 'UTC day to list, such as 2026-11-20, instead of `from` and `to`.', orEmpty(dayForm)),
  model: query('model', 'Model id of the receipts.', { type: 'string' }),
  key: query('key', 'Id of the API key: `key_id` of the receipts.', { type: 'string', pattern: '^([0-9a-f]{16})?$' }),
  end_user: query('end_user', '`end_user` of the receipts.', { type: 'string', maxLength: 256 }),
  outcome: query('outcome', 'Outcome of the requests.', { type: 'string', enum: [...usageOutcomes, ''] }),
  cursor: query('cursor', '`next_cursor` of the previous page.', { type: 'string', pattern: '^[\\w-]*$' }),
  limit: limit(1_000, 100),
  format: format('JSON or a CSV table.'),
  bom,
};

const summaryQuery: Record<(typeof summaryParameters)[number], Parameter> = {
  group_by: query(
    'group_by',
    `One or several of ${usageGroups.join(', ')}, with commas. Default: \`day\`.`,
    { type: 'string', pattern: `^$|^(${usageGroups.join('|')})(,(${usageGroups.join('|')}))*$` },
    'day,model',
  ),
  from: query('from', 'First UTC day, at most 91 days before `to`. Default: 29 days before `to`.', orEmpty(dayForm)),
  to: query('to', 'Last UTC day. Default: today.', orEmpty(dayForm)),
  format: format('JSON or a CSV table.'),
  bom,
};

/** The mini app reads the same list with its own credential. */
export const listOfUsage: Pick<Operation, 'parameters' | 'answers' | 'codes'> = {
  parameters: Object.values(parameters),
  answers: {
    '200': {
      description: 'A page of completed requests, newest first.',
      headers: ['X-Service-Next-Cursor'],
      content: {
        'application/json': { schema: usageList },
        'text/csv': {
          schema: { type: 'string' },
          example: toCsv([]),
        },
      },
    },
  },
  codes: ['invalid_request_error', 'service_unavailable'],
};

/** The mini app reads the same sums with its own credential. */
export const summaryOfUsage: Pick<Operation, 'parameters' | 'answers'> = {
  parameters: Object.values(summaryQuery),
  answers: {
    '200': {
      description: 'The summary.',
      content: {
        'application/json': { schema: usageSummary },
        'text/csv': {
          schema: { type: 'string' },
          example: 'day,requests,cost_usd,input_tokens,output_tokens,complete\r\n',
        },
      },
    },
  },
};

export const accountOperations: Record<
  'getAccount' | 'listUsage' | 'getUsageSummary' | 'getUsage' | 'getStatement',
  Operation
> = {
  getAccount: {
    tag: 'Account',
    summary: 'Read the balance',
    description: 'Returns the account of the API key.',
    answers: { '200': { description: 'The account.', content: { 'application/json': { schema: account } } } },
  },
  listUsage: {
    tag: 'Account',
    summary: 'List the cost of requests',
    description: 'Each row is one request, with its units, prices and charge.',
    ...listOfUsage,
  },
  getUsageSummary: {
    tag: 'Account',
    summary: 'Sum the cost of requests',
    description:
      'Sums the charges and the tokens of charged requests by UTC day, model, API key and end user. The sums equal those of the receipts. A call reads at most 5,000 receipts that no earlier call has summed; while `complete` is false, send the request again.',
    ...summaryOfUsage,
    codes: ['invalid_request_error', 'service_unavailable'],
  },
  getUsage: {
    tag: 'Account',
    summary: 'Read the receipt of one request',
    description: 'Finds a receipt by the `x-request-id` of the response, or by the id of a video.',
    path: {
      request_id: [
        '`x-request-id` of the response, or the id of a video.',
        '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
        receiptIdForm,
      ],
    },
    answers: { '200': { description: 'The receipt.', content: { 'application/json': { schema: usageRow } } } },
    codes: ['not_found'],
  },
  getStatement: {
    tag: 'Account',
    summary: 'Read the statement of a month',
    description:
      'Opening + credits - returns - charges = closing. The amounts of a month that is over never change, and its `charges` do not change once they are complete. Open holds are not part of the sum.',
    path: { month: ['Calendar month in UTC.', '2026-11', MONTH_FORM] },
    parameters: [format('JSON or a CSV table with one line per amount.'), bom],
    answers: {
      '200': {
        description: 'The statement.',
        content: {
          'application/json': { schema: statement },
          'text/csv': {
            schema: { type: 'string' },
            example: 'month,line,type,ref,of,model,requests,created_at,amount_usd,charges_complete\r\n',
          },
        },
      },
    },
    codes: ['invalid_request_error', 'not_found', 'service_unavailable'],
  },
};
