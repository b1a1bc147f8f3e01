import { openaiRefusal } from './openai-error.ts';
import { hasBearer, openaiHeaders } from './openai-headers.ts';
import { jsonAnswer, type Wire } from './wire.ts';

const ids = ['gpt-4.1-mini', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-5.6-sol', 'gpt-6-luna', 'gpt-6-sol', 'gpt-6.2-sol'];

/** `GET /v1/models`: enough for a client that asks whether it has reached OpenAI. */
export const openaiModels: Wire = {
  method: 'GET',
  path: /^\/v1\/models$/,
  isAuthorized: hasBearer,
  lastUserText: () => '',
  answer: () =>
    jsonAnswer({
      object: 'list',
      data: ids.map((id) => ({ id, object: 'model', created: 1_744_316_542, owned_by: 'system' })),
    }),
  refuse: (refusal) => openaiRefusal(refusal, ''),
  errorFrame: '',
  headers: openaiHeaders,
};
