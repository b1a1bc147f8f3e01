import type { usageParameters } from '../../lambdas/protocols/account/usage-query.ts';
import { account, usageList, usageRow } from '../answers/account.ts';
import { momentForm, orEmpty, receiptIdForm } from '../answers/forms.ts';
import type { Operation } from '../operation.ts';
import { limit, type Parameter, query } from '../parameters.ts';

const moment = 'a day such as 2026-11-20 or a time such as 2026-11-20T08:00:00Z, in UTC';

const parameters: Record<(typeof usageParameters)[number], Parameter> = {
  from: query('from', `The oldest to be listed: ${moment}.`, orEmpty(momentForm)),
  to: query(
    'to',
    `Where the list begins: ${moment}. A day is meant whole, a time is not part of it.`,
    orEmpty(momentForm),
  ),
  cursor: query('cursor', 'The `next_cursor` of the page before.', { type: 'string', pattern: '^[\\w-]*$' }),
  limit: limit(1_000, 100),
  format: query('format', 'JSON, or a table.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
};

/** The mini app reads the same list with its own credential. */
export const listOfUsage: Pick<Operation, 'parameters' | 'answers' | 'codes'> = {
  parameters: Object.values(parameters),
  answers: {
    '200': {
      description: 'A page of requests that have ended, the newest first.',
      headers: ['X-Service-Next-Cursor'],
      content: {
        'application/json': { schema: usageList },
        'text/csv': {
          schema: { type: 'string' },
          example: 'id,created_at,outcome,reason,model,usage,prices_usd,cost_usd,overage,end_user,ignored\r\n',
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
    description: 'Of the account that the key belongs to.',
    answers: { '200': { description: 'The account.', content: { 'application/json': { schema: account } } } },
  },
  listUsage: {
    tag: 'Account',
    summary: 'List what requests have cost',
    description: 'One row for each request, with what was counted, at what price, and what was charged.',
    ...listOfUsage,
  },
  getUsage: {
    tag: 'Account',
    summary: 'Read the receipt of one request',
    description: 'By the `x-request-id` of its answer, or by the id of a video.',
    path: {
      request_id: [
        'The `x-request-id` of an answer, or the id of a video.',
        '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
        receiptIdForm,
      ],
    },
    answers: { '200': { description: 'The receipt.', content: { 'application/json': { schema: usageRow } } } },
    codes: ['not_found'],
  },
};
