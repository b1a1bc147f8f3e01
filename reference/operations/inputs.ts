import { embeddingsBody } from '../../lambdas/protocols/embeddings/handler.ts';
import { moderationsBody } from '../../lambdas/protocols/moderations/handler.ts';
import { embeddings, moderation } from '../answers/media.ts';
import type { Body, Operation } from '../operation.ts';
import { receipt } from '../response-headers.ts';

const embeddingsFields: Record<keyof typeof embeddingsBody.shape, string> = {
  model: 'The id of a model.',
  input: 'A text or up to 2,048 of them, or the same as lists of the numbers of tokens.',
  encoding_format: 'As numbers (`float`), or as base64 of their bytes.',
  dimensions: 'How many numbers, on models of the third generation.',
  user: 'Your own name for your end user. It stands in the receipt.',
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
  model: 'The id of a model. Default: the first moderation model of the catalog.',
  input: 'A text, or up to 2,048 texts and parts. Images are for models that take them.',
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
    summary: 'Turn texts into numbers',
    description: 'Charged by the tokens that the vendor counts.',
    json: embeddingsRequest,
    answers: {
      '200': {
        description: 'One embedding for each text, in their order.',
        headers: receipt,
        content: { 'application/json': { schema: embeddings } },
      },
    },
    codes: ['context_length_exceeded', 'idempotency_not_supported'],
  },
  moderations: {
    tag: 'Embeddings and moderations',
    summary: 'Judge texts and images',
    description: 'Charged by what the vendor counts. At a price of 0 the balance still has to be above 0.',
    json: moderationRequest,
    answers: {
      '200': {
        description: 'One verdict for each input, with every category.',
        headers: receipt,
        content: { 'application/json': { schema: moderation } },
      },
    },
    codes: ['context_length_exceeded', 'invalid_image_format', 'idempotency_not_supported'],
  },
};
