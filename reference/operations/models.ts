import {
  contentModel,
  contentModelList,
  degradedHealth,
  health,
  model,
  modelList,
  priceList,
  reserves,
} from '../answers/models.ts';
import type { Operation } from '../operation.ts';
import { query } from '../parameters.ts';

const shapes =
  'A request with `x-goog-api-key` or `x-provider-api-key` has the answer of the same path under `/v1beta`. One with `x-api-key`, `provider-version` or `anthropic-version` has the answer of Anthropic’s own API: models with `type`, `id`, `display_name`, `created_at`, `max_input_tokens` and `max_tokens`. Both have the models of their format alone, and errors in its shape.';

const pageSize = query('pageSize', 'How many at most; 0 is the same as 50.', {
  type: 'integer',
  minimum: 0,
  maximum: 2_147_483_647,
  default: 50,
});
const pageToken = query('pageToken', 'The `nextPageToken` of the page before.', { type: 'string' });
const path = { id: ['The id of a model, or an alias.', 'gpt-4.1-mini'] } as const;
const contentPath = { id: ['The id of a model with the protocol `generate_content`.', 'gemini-3.8-flash'] } as const;

type Name =
  | 'listModels'
  | 'getModel'
  | 'listGoogleModels'
  | 'getGoogleModel'
  | 'listPrices'
  | 'listFallbacks'
  | 'health';

export const modelOperations: Record<Name, Operation> = {
  listModels: {
    tag: 'Models',
    summary: 'List the models',
    description: `Every model that is served today, without aliases. ${shapes} Their lists come in pages.`,
    parameters: [
      query('limit', 'In the shape of messages: how many at most.', {
        type: 'integer',
        minimum: 1,
        maximum: 1_000,
        default: 20,
      }),
      query('after_id', 'In the shape of messages: the `last_id` of the page before.', { type: 'string' }),
      query('before_id', 'In the shape of messages: the `first_id` of the page behind.', { type: 'string' }),
      { ...pageSize, description: `In the shape of generate-content: ${pageSize.description}` },
      { ...pageToken, description: `In the shape of generate-content: ${pageToken.description}` },
    ],
    answers: {
      '200': {
        description: 'The models.',
        headers: ['request-id'],
        content: {
          'application/json': { schema: modelList },
        },
      },
    },
    codes: ['invalid_request_error'],
  },
  getModel: {
    tag: 'Models',
    summary: 'Look at a model',
    description: shapes,
    path,
    answers: {
      '200': {
        description: 'The model.',
        headers: ['request-id'],
        content: { 'application/json': { schema: model } },
      },
    },
    codes: ['invalid_request_error', 'model_not_found'],
  },
  listGoogleModels: {
    tag: 'Models',
    summary: 'List the models of generate-content',
    description: 'In pages.',
    parameters: [pageSize, pageToken],
    answers: { '200': { description: 'The models.', content: { 'application/json': { schema: contentModelList } } } },
    codes: ['invalid_request_error'],
  },
  getGoogleModel: {
    tag: 'Models',
    summary: 'Look at a model of generate-content',
    description: 'In the shape of its format.',
    path: contentPath,
    answers: { '200': { description: 'The model.', content: { 'application/json': { schema: contentModel } } } },
    codes: ['model_not_found'],
  },
  listPrices: {
    tag: 'Models',
    summary: 'List prices, limits and capabilities',
    description: 'Needs no key.',
    answers: {
      '200': { description: 'The models with their prices.', content: { 'application/json': { schema: priceList } } },
    },
  },
  listFallbacks: {
    tag: 'Models',
    summary: 'List the reserves of a model',
    description:
      'What `X-Service-Fallback-Model` may name for this model. Models that are not text have none. Needs no key.',
    path,
    answers: { '200': { description: 'The reserves.', content: { 'application/json': { schema: reserves } } } },
    codes: ['model_not_found'],
  },
  health: {
    tag: 'Pages',
    summary: 'Check that the service works',
    description: 'Needs no key and counts against nothing.',
    answers: {
      '200': { description: 'Everything works.', content: { 'application/json': { schema: health } } },
      '503': {
        description: 'A part does not work. Only a gateway on a machine of its own reports this.',
        content: { 'application/json': { schema: degradedHealth } },
      },
    },
  },
};
