import { rotationBody, thresholdBody } from '../../lambdas/protocols/app/account.ts';
import { appAccount, newKey, spend, threshold } from '../answers/account.ts';
import type { Operation } from '../operation.ts';
import { query } from '../parameters.ts';
import { listOfUsage, summaryOfUsage } from './account.ts';
import { keyOperations } from './keys.ts';

const noAccount = ['not_found', 'service_unavailable'] as const;

type Name =
  | 'getAppAccount'
  | 'listAppUsage'
  | 'getAppUsageSummary'
  | 'getAppSpend'
  | 'setThreshold'
  | 'rotateKey'
  | 'listAppKeys'
  | 'createAppKey'
  | 'getAppKey'
  | 'editAppKey'
  | 'deleteAppKey';

/** Returns an operation of an API key with manage as one of the mini app, which acts with the rights of the owner. */
const asOwner = (operation: Operation, description: string): Operation => ({
  ...operation,
  tag: 'Mini app',
  description,
  codes: [...(operation.codes ?? []).filter((code) => code !== 'key_right_missing'), ...noAccount].filter(
    (code, index, codes) => codes.indexOf(code) === index,
  ),
});

const RECENT = 'The mini app must have been opened within the last ten minutes.';

export const appOperations: Record<Name, Operation> = {
  getAppAccount: {
    tag: 'Mini app',
    summary: 'Read the account of the bot chat',
    description: 'Returns 404 without an account. Send `/start` to the bot to create one.',
    answers: {
      '200': {
        description: 'The account, the days its balance lasts, and its API key without the secret part.',
        content: { 'application/json': { schema: appAccount } },
      },
    },
    codes: noAccount,
  },
  listAppUsage: {
    tag: 'Mini app',
    summary: 'List the cost of requests',
    description: 'Same list as `GET /api/usage`.',
    ...listOfUsage,
    codes: [...noAccount, 'invalid_request_error'],
  },
  getAppUsageSummary: {
    tag: 'Mini app',
    summary: 'Sum the cost of requests',
    description: 'Same sums as `GET /api/usage/summary`.',
    ...summaryOfUsage,
    codes: [...noAccount, 'invalid_request_error'],
  },
  getAppSpend: {
    tag: 'Mini app',
    summary: 'Sum up the spend',
    description: 'Sums by UTC day and by model.',
    parameters: [
      query('days', 'Number of days, including today.', { type: 'integer', minimum: 1, maximum: 90, default: 30 }),
    ],
    answers: {
      '200': { description: 'All days, oldest first.', content: { 'application/json': { schema: spend } } },
    },
    codes: [...noAccount, 'invalid_request_error'],
  },
  setThreshold: {
    tag: 'Mini app',
    summary: 'Set the threshold of low-balance notifications',
    description: 'The bot sends one notification each time the balance falls to this amount or below it.',
    json: {
      name: 'ThresholdRequest',
      schema: thresholdBody,
      fields: { threshold_usd: 'USD as a decimal string. `0` turns notifications off.' },
      examples: { plain: { summary: 'At 2.5 USD', value: { threshold_usd: '2.5' } } },
    },
    answers: {
      '200': { description: 'The threshold was set.', content: { 'application/json': { schema: threshold } } },
    },
    codes: noAccount,
  },
  rotateKey: {
    tag: 'Mini app',
    summary: 'Replace the API key',
    description:
      'Creates an API key and revokes the old one in one step. If two requests are concurrent, one succeeds. The mini app must have been opened within the last ten minutes.',
    json: {
      name: 'RotateKeyRequest',
      schema: rotationBody,
      fields: { key_id: 'Id of the API key to replace, as returned by `GET /app/api/account`.' },
      examples: { plain: { summary: 'The current API key', value: { key_id: '0123456789abcdef' } } },
    },
    answers: {
      '200': {
        description: 'The new API key. It is shown only in this response.',
        content: { 'application/json': { schema: newKey } },
      },
    },
    codes: [...noAccount, 'key_already_rotated'],
  },
  listAppKeys: asOwner(keyOperations.listKeys, 'Same list as `GET /api/keys`, with the rights of the owner.'),
  createAppKey: asOwner(keyOperations.createKey, `As \`POST /api/keys\`, with the rights of the owner. ${RECENT}`),
  getAppKey: asOwner(keyOperations.getKey, 'As `GET /api/keys/{id}`, with the rights of the owner.'),
  editAppKey: asOwner(
    keyOperations.editKey,
    `As \`PATCH /api/keys/{id}\`, with the rights of the owner: it can also change the rights of the first key. ${RECENT}`,
  ),
  deleteAppKey: asOwner(
    keyOperations.deleteKey,
    `As \`DELETE /api/keys/{id}\`, with the rights of the owner. ${RECENT}`,
  ),
};
