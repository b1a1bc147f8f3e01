import * as z from 'zod';
import {
  contentModel,
  contentModelList,
  degradedHealth,
  health,
  messagesModel,
  messagesModelList,
  model,
  modelList,
  priceList,
  reserves,
} from '../answers/models.ts';
import type { Operation } from '../operation.ts';
import { query } from '../parameters.ts';

const shapes =
  "With `x-goog-api-key` or `x-provider-api-key`, the response is that of the same path under `/v1beta`. With `x-api-key`, `provider-version` or `anthropic-version`, it has the shape of Anthropic's API: models with `type`, `id`, `display_name`, `created_at`, `max_input_tokens` and `max_tokens`. Both list only models of their own protocol, and use its error shape.";

const pageSize = query('pageSize', 'Maximum number of models. 0 is treated as 50.', {
  type: 'integer',
  minimum: 0,
  maximum: 2_147_483_647,
  default: 50,
});
const pageToken = query('pageToken', '`nextPageToken` of the previous page.', { type: 'string' });
const path = { id: ['Id of a model, or an alias.', 'gpt-4.1-mini'] } as const;
const contentPath = { id: ['Id of a model with the protocol `generate_content`.', 'gemini-3.8-flash'] } as const;

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
    summary: 'List models',
    description: `All models that are available today, without aliases. ${shapes} These lists have pages.`,
    parameters: [
      query('limit', 'In the shape of messages: maximum number of models.', {
        type: 'integer',
        minimum: 1,
        maximum: 1_000,
        default: 20,
      }),
      query('after_id', 'In the shape of messages: `last_id` of the previous page.', { type: 'string' }),
      query('before_id', 'In the shape of messages: `first_id` of the next page.', { type: 'string' }),
      { ...pageSize, description: `In the shape of generateContent: ${pageSize.description}` },
      { ...pageToken, description: `In the shape of generateContent: ${pageToken.description}` },
    ],
    answers: {
      '200': {
        description: 'The models.',
        headers: ['request-id'],
        content: {
          'application/json': { schema: z.union([modelList, messagesModelList, contentModelList]) },
        },
      },
    },
    codes: ['invalid_request_error'],
  },
  getModel: {
    tag: 'Models',
    summary: 'Get a model',
    description: shapes,
    path,
    answers: {
      '200': {
        description: 'The model.',
        headers: ['request-id'],
        content: { 'application/json': { schema: z.union([model, messagesModel, contentModel]) } },
      },
    },
    codes: ['invalid_request_error', 'model_not_found'],
  },
  listGoogleModels: {
    tag: 'Models',
    summary: 'List models in the shape of generateContent',
    description: 'The list has pages.',
    parameters: [pageSize, pageToken],
    answers: { '200': { description: 'The models.', content: { 'application/json': { schema: contentModelList } } } },
    codes: ['invalid_request_error'],
  },
  getGoogleModel: {
    tag: 'Models',
    summary: 'Get a model in the shape of generateContent',
    description: 'Returns a model in the shape of generateContent.',
    path: contentPath,
    answers: { '200': { description: 'The model.', content: { 'application/json': { schema: contentModel } } } },
    codes: ['model_not_found'],
  },
  listPrices: {
    tag: 'Models',
    summary: 'List prices, limits and capabilities',
    description: 'Needs no API key.',
    answers: {
      '200': {
        description: 'The models with their prices, limits and capabilities.',
        content: { 'application/json': { schema: priceList } },
      },
    },
  },
  listFallbacks: {
    tag: 'Models',
    summary: 'List the fallback models of a model',
    description:
      'Allowed models in `X-Service-Fallback-Model` and `X-Service-Fallback-Models` for this model. Only text models have fallback models. Needs no API key.',
    path: { id: ['Id of a model, or an alias.', 'gpt-5.4'] },
    answers: { '200': { description: 'The fallback models.', content: { 'application/json': { schema: reserves } } } },
    codes: ['model_not_found'],
  },
  health: {
    tag: 'Pages',
    summary: 'Check the health of the service',
    description: 'Needs no API key and has no rate limit.',
    answers: {
      '200': {
        description: 'All parts work. In maintenance, requests that cost money get 503.',
        content: { 'application/json': { schema: health } },
      },
      '503': {
        description: 'A part does not work. Only a self-hosted gateway returns this.',
        content: {
          'application/json': { schema: degradedHealth, example: { status: 'degraded', problems: ['disk_space'] } },
        },
      },
    },
  },
};
