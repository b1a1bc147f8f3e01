import { createKeyBody, editKeyBody } from '../../lambdas/protocols/keys/key-request.ts';
import { apiKey, apiKeyList, createdKey, deletedKey } from '../answers/keys.ts';
import type { Operation } from '../operation.ts';
import { ifMatch } from '../parameters.ts';

const path = { id: ['Id of the API key.', '0123456789abcdef'] } as const;

const fields = {
  name: '1 to 64 characters. Names need not be unique.',
  limit_usd: 'Cap of the spending as a decimal string. A request that would exceed it is 402 `key_limit_exceeded`.',
  limit_period: 'Period after which the cap starts again, in UTC. Default: `total`, which never resets.',
  expires_at: 'Time from which the key is rejected. It must be in the future.',
  models: 'Ids of the models that the key can call. Default: null, which means all.',
  requests_per_second: 'Own rate with a burst of 1.5 times the rate, at most the rate of every key.',
  rights: '`manage` lets the key use these routes. A key with a cap, a list of models or an expiry cannot have it.',
};

type Name = 'listKeys' | 'createKey' | 'getKey' | 'editKey' | 'deleteKey';

export const keyOperations: Record<Name, Operation> = {
  listKeys: {
    tag: 'API keys',
    summary: 'List the API keys',
    description: 'Lists all API keys of the account, at most 50, the first key first.',
    answers: { '200': { description: 'The keys.', content: { 'application/json': { schema: apiKeyList } } } },
    codes: ['key_right_missing'],
  },
  createKey: {
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'Creates an API key. It has no rights unless the request asks for them, and at most the rate of the key that creates it.',
    json: {
      name: 'CreateApiKeyRequest',
      schema: createKeyBody,
      fields,
      examples: {
        plain: { summary: 'A key for one application', value: { name: 'My application' } },
        restricted: {
          summary: 'A cap per month, one model and a lower rate',
          value: {
            name: 'Chat of the website',
            limit_usd: '25',
            limit_period: 'month',
            models: ['gpt-5.4-mini'],
            requests_per_second: 2,
          },
        },
      },
    },
    answers: {
      '200': {
        description: 'The new API key. Only this response has `key`.',
        headers: ['ETag'],
        content: { 'application/json': { schema: createdKey } },
      },
    },
    codes: ['key_right_missing', 'idempotency_not_supported'],
  },
  getKey: {
    tag: 'API keys',
    summary: 'Read an API key',
    description: 'Returns one API key of the account, without its secret part.',
    path,
    answers: {
      '200': {
        description: 'The key.',
        headers: ['ETag'],
        content: { 'application/json': { schema: apiKey } },
      },
    },
    codes: ['key_right_missing', 'not_found'],
  },
  editKey: {
    tag: 'API keys',
    summary: 'Change an API key',
    description:
      'Changes the fields of the body. Null removes a restriction. A key cannot change itself, and the first key can only get another name and other rights.',
    path,
    parameters: [ifMatch],
    json: {
      name: 'EditApiKeyRequest',
      schema: editKeyBody,
      fields,
      examples: { plain: { summary: 'A higher cap', value: { limit_usd: '50' } } },
    },
    answers: {
      '200': {
        description: 'The key after the change.',
        headers: ['ETag'],
        content: { 'application/json': { schema: apiKey } },
      },
    },
    codes: ['key_right_missing', 'not_found', 'key_changed'],
  },
  deleteKey: {
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: 'Revokes an API key, which is rejected from the next request on. A key cannot delete itself.',
    path,
    parameters: [ifMatch],
    answers: {
      '200': { description: 'The key was revoked.', content: { 'application/json': { schema: deletedKey } } },
    },
    codes: ['key_right_missing', 'not_found', 'key_changed', 'invalid_request_error'],
  },
};
