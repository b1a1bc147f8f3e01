import * as z from 'zod';
import { creditBody } from '../../lambdas/protocols/credits/handler.ts';
import { credit } from '../answers/account.ts';
import type { Operation } from '../operation.ts';

const creditFields: Record<keyof typeof creditBody.shape, string> = {
  account: 'The id of the account that was paid for.',
  ref: 'The id of the payment. The same one is credited once, however often it is sent.',
  amount_usd: 'USD as a decimal string above 0.',
};

const taken = z.looseObject({ ok: z.literal(true) }).meta({ id: 'UpdateTaken' });

export const integrationOperations: Record<'takeUpdate' | 'creditAccount', Operation> = {
  takeUpdate: {
    tag: 'Integration',
    summary: 'Take an update of the messenger',
    description:
      'The webhook of the bot. What is not 2xx is sent again by the messenger; each update has its effect once.',
    json: {
      name: 'BotUpdate',
      schema: z.looseObject({ update_id: z.int().min(0) }),
      fields: { update_id: 'The number of the update.' },
      description: 'Other members are those of the messenger’s own update.',
      examples: {
        start: {
          summary: 'The first message',
          value: {
            update_id: 1,
            message: {
              message_id: 1,
              date: 1_795_000_000,
              chat: { id: 7_001, type: 'private', first_name: 'Ada' },
              from: { id: 7_001, is_bot: false, first_name: 'Ada', language_code: 'en' },
              text: '/start',
            },
          },
        },
      },
    },
    answers: { '200': { description: 'It is taken.', content: { 'application/json': { schema: taken } } } },
  },
  creditAccount: {
    tag: 'Integration',
    summary: 'Credit a payment',
    description: 'What a payment provider reports a payment to. Send it again until it is answered by 2xx.',
    json: {
      name: 'CreditRequest',
      schema: creditBody,
      fields: creditFields,
      examples: {
        plain: { summary: 'A payment', value: { account: 'account-1', ref: 'payment-1', amount_usd: '12.50' } },
      },
    },
    answers: { '200': { description: 'It is credited.', content: { 'application/json': { schema: credit } } } },
    codes: ['not_found', 'credit_mismatch'],
  },
};
