import type { usageParameters } from '../../lambdas/protocols/account/usage-query.ts';
import { account, usageList, usageRow } from '../answers/account.ts';
import { momentForm, orEmpty, receiptIdForm } from '../answers/forms.ts';
import type { Operation } from '../operation.ts';
import { limit, type Parameter, query } from '../parameters.ts';

const moment = 'a day such as 2026-11-20 or a time such as 2026-11-20T08:00:00Z, in UTC';

const parameters: Record<(typeof usageParameters)[number], Parameter> = {
  from: query('from', `Oldest request to list: ${moment}.`, orEmpty(momentForm)),
  to: query('to', `Newest request to list: ${moment}. A day is included, a time is not.`, orEmpty(momentForm)),
  cursor: query('cursor', '`next_cursor` of the previous page.', { type: 'string', pattern: '^[\\w-]*$' }),
  limit: limit(1_000, 100),
  format: query('format', 'JSON or a CSV table.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
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
          example:
            'id,created_at,outcome,reason,model,usage,prices_usd,cost_usd,overage,end_user,ignored,uncollected_usd\r\n',
        },
      },
    },
  },
  codes: ['invalid_request_error', 'service_unavailable'],
};

export const accountOperations: Record<'getAccount' | 'listUsage' | 'getUsage', Operation> = {
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
};
