import { embeddingsBody } from '../../lambdas/protocols/embeddings/handler.ts';
import { moderationsBody } from '../../lambdas/protocols/moderations/handler.ts';
import { embeddings, moderation } from '../answers/media.ts';
import type { Body, Operation } from '../operation.ts';
import { receipt } from '../response-headers.ts';

const embeddingsFields: Record<keyof typeof embeddingsBody.shape, string> = {
  model: 'Id of a model.',
  input: 'A text, a list of up to 2,048 texts, or the same as lists of token numbers.',
  encoding_format: 'Numbers (`float`), or their bytes in base64.',
  dimensions: 'Number of dimensions, on models of the third generation.',
  user: 'Your name for the end user. The receipt includes it.',
};

const embeddingsRequest: Body = {
  name: 'EmbeddingsRequest',
  schema: embeddingsBody,
  fields: embeddingsFields,
  examples: {
    plain: {
      summary: 'Two texts',
      value: { model: 'text-embedding-3-small', input: ['red sky', 'blue sky'], dimensions: 8 },
    },
  },
};

const moderationFields: Record<keyof typeof moderationsBody.shape, string> = {
  model: 'Id of a model. Default: the first moderation model of the catalog.',
  input: 'A text, or up to 2,048 texts and parts. Only models with image input accept images.',
};

const moderationRequest: Body = {
  name: 'ModerationRequest',
  schema: moderationsBody,
  fields: moderationFields,
  examples: {
    plain: { summary: 'A text', value: { model: 'omni-moderation-latest', input: 'Good evening' } },
  },
};

export const inputOperations: Record<'embeddings' | 'moderations', Operation> = {
  embeddings: {
    tag: 'Embeddings and moderations',
    summary: 'Create embeddings',
    description: 'Charged by the tokens that the provider counts.',
    json: embeddingsRequest,
    answers: {
      '200': {
        description: 'One embedding for each text, in input order.',
        headers: receipt,
        content: { 'application/json': { schema: embeddings } },
      },
    },
    codes: ['context_length_exceeded', 'idempotency_not_supported'],
  },
  moderations: {
    tag: 'Embeddings and moderations',
    summary: 'Moderate texts and images',
    description: 'Charged by the units that the provider counts. The balance must be above 0, even if the price is 0.',
    json: moderationRequest,
    answers: {
      '200': {
        description: 'One result for each input, with every category.',
        headers: receipt,
        content: { 'application/json': { schema: moderation } },
      },
    },
    codes: ['context_length_exceeded', 'invalid_image_format', 'idempotency_not_supported'],
  },
};
