import * as z from 'zod';
import { creditBody } from '../../lambdas/protocols/credits/handler.ts';
import { credit } from '../answers/account.ts';
import type { Operation } from '../operation.ts';

const creditFields: Record<keyof typeof creditBody.shape, string> = {
  account: 'Id of the account to credit.',
  ref: 'Id of this payment, refund, chargeback or reversal. It counts once, even if it is sent several times.',
  type: 'A payment (`credit`, the default), money that went back (`refund`, `chargeback`), or a chargeback that was reversed.',
  of: 'For a refund or a chargeback, the `ref` of the credit. For a reversal, the `ref` of the chargeback, or of its credit. Not for a credit.',
  amount_usd: 'USD as a decimal string above 0.',
};

const taken = z.looseObject({ ok: z.literal(true) }).meta({ id: 'UpdateTaken' });

export const integrationOperations: Record<'takeUpdate' | 'creditAccount', Operation> = {
  takeUpdate: {
    tag: 'Integration',
    summary: 'Receive an update of the messenger',
    description:
      'Webhook of the bot. The messenger repeats an update after a status other than 2xx. Each update takes effect once.',
    json: {
      name: 'BotUpdate',
      schema: z.looseObject({ update_id: z.int().min(0) }),
      fields: { update_id: 'Number of the update.' },
      description: 'Other members are defined by the messenger.',
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
    answers: { '200': { description: 'The update was accepted.', content: { 'application/json': { schema: taken } } } },
  },
  creditAccount: {
    tag: 'Integration',
    summary: 'Report a payment, a refund or a chargeback',
    description: 'Webhook for a payment provider. Repeat the request until the status is 2xx.',
    json: {
      name: 'CreditRequest',
      schema: creditBody,
      fields: creditFields,
      examples: {
        plain: { summary: 'A payment', value: { account: 'account-1', ref: 'payment-1', amount_usd: '12.50' } },
        refund: {
          summary: 'A refund of a part of it',
          value: { account: 'account-1', ref: 'refund-1', type: 'refund', of: 'payment-1', amount_usd: '2.50' },
        },
      },
    },
    answers: {
      '200': { description: 'The change was made.', content: { 'application/json': { schema: credit } } },
    },
    codes: ['not_found', 'credit_mismatch'],
  },
};
