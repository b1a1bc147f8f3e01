import { rotationBody, thresholdBody } from '../../lambdas/protocols/app/account.ts';
import { appAccount, newKey, spend, threshold } from '../answers/account.ts';
import type { Operation } from '../operation.ts';
import { query } from '../parameters.ts';
import { listOfUsage } from './account.ts';

const noAccount = ['not_found', 'service_unavailable'] as const;

type Name = 'getAppAccount' | 'listAppUsage' | 'getAppSpend' | 'setThreshold' | 'rotateKey';

export const appOperations: Record<Name, Operation> = {
  getAppAccount: {
    tag: 'Mini app',
    summary: 'Read the account of the chat',
    description: 'Who has no account yet sends `/start` to the bot first.',
    answers: {
      '200': {
        description: 'The account, how long its balance lasts, and its key without the secret part.',
        content: { 'application/json': { schema: appAccount } },
      },
    },
    codes: noAccount,
  },
  listAppUsage: {
    tag: 'Mini app',
    summary: 'List what requests have cost',
    description: 'The same as `GET /api/usage`.',
    ...listOfUsage,
    codes: [...noAccount, 'invalid_request_error'],
  },
  getAppSpend: {
    tag: 'Mini app',
    summary: 'Sum up the spend',
    description: 'By day, in UTC, and by model.',
    parameters: [query('days', 'How many, today included.', { type: 'integer', minimum: 1, maximum: 90, default: 30 })],
    answers: {
      '200': { description: 'Every day, the newest last.', content: { 'application/json': { schema: spend } } },
    },
    codes: [...noAccount, 'invalid_request_error'],
  },
  setThreshold: {
    tag: 'Mini app',
    summary: 'Set when the bot sends a notice',
    description: 'One notice each time the balance falls to this amount or below it.',
    json: {
      name: 'ThresholdRequest',
      schema: thresholdBody,
      fields: { threshold_usd: 'USD as a decimal string; `0` is never.' },
      examples: { plain: { summary: 'At 2.5 USD', value: { threshold_usd: '2.5' } } },
    },
    answers: { '200': { description: 'It is set.', content: { 'application/json': { schema: threshold } } } },
    codes: noAccount,
  },
  rotateKey: {
    tag: 'Mini app',
    summary: 'Replace the key',
    description:
      'Issues a new key and revokes the old one, both at once. Of two at the same time one wins. The page must have been opened within the last ten minutes.',
    json: {
      name: 'RotateKeyRequest',
      schema: rotationBody,
      fields: { key_id: 'The id of the key that is to be replaced, as the account tells it.' },
      examples: { plain: { summary: 'The key that is shown', value: { key_id: '0123456789abcdef' } } },
    },
    answers: {
      '200': { description: 'The new key. It is told here only.', content: { 'application/json': { schema: newKey } } },
    },
    codes: [...noAccount, 'key_already_rotated'],
  },
};
