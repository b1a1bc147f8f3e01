import { jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { openaiRefusal } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';

const ids = [
  'gpt-4.1-mini',
  'gpt-5.2-pro',
  'gpt-5.4',
  'gpt-5.4-mini',
  'gpt-5.4-pro',
  'gpt-5.5-pro',
  'gpt-5.6-sol',
  'gpt-6-luna',
  'gpt-6-sol',
  'gpt-6.2-sol',
  'gpt-image-2',
  'gpt-image-2.6-flare',
  'gpt-image-2.6-sunburst',
  'omni-moderation-latest',
  'text-embedding-3-large',
  'text-embedding-3-small',
  'text-embedding-ada-002',
];

const shared = {
  method: 'GET',
  // Anthropic has the same paths and also accepts a bearer token; its clients send a version header.
  isAuthorized: (headers) => hasBearer(headers) && headers['anthropic-version'] === undefined,
  lastUserText: () => '',
  errorFrame: () => '',
  headers: openaiHeaders,
} satisfies Partial<Wire>;

/** `GET /v1/models`: enough for clients that test the connection. */
export const openaiModels: Wire = {
  ...shared,
  path: /^\/v1\/models$/,
  answer: () => jsonAnswer({ object: 'list', data: ids.map(toModel) }),
  refuse: (refusal) => openaiRefusal(refusal, ''),
};

export const openaiModel: Wire = {
  ...shared,
  path: /^\/v1\/models\/[^/]+$/,
  answer(request) {
    const id = nameIn(request);
    if (!ids.includes(id)) throw openaiRefusal({ kind: 'model-not-found' }, id);
    return jsonAnswer(toModel(id));
  },
  refuse: (refusal, request) => openaiRefusal(refusal, nameIn(request)),
};

function toModel(id: string) {
  return { id, object: 'model', created: 1_744_316_542, owned_by: 'system' };
}

function nameIn({ path }: WireRequest): string {
  return path.split('/').at(-1) ?? '';
}
