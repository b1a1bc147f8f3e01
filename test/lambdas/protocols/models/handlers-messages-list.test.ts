import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { createGetModel, createListModels } from '../../../../lambdas/protocols/models/handlers.ts';
import { toMessagesModel } from '../../../../lambdas/protocols/models/shapes.ts';
import { catalog, NOW, serveModels } from './models-service.ts';

const callable = catalog
  .list(NOW)
  .filter((model) => model.kind === 'text')
  .filter(({ protocols }) => protocols.includes('messages'));
/** Latest first, in the provider's order. */
const ids = callable.toSorted((one, other) => other.created - one.created).map(({ id }) => id);

const sdkOf = ({ apiKey, fetch }: Awaited<ReturnType<typeof serveModels>>) =>
  new Anthropic({ apiKey, fetch, baseURL: 'https://gateway.test', maxRetries: 0 });

test('CAT-7 the SDK can list the pages backwards', async () => {
  const [first, ...before] = ids.toReversed();
  const pages: string[] = [];
  const list = await sdkOf(await serveModels(createListModels)).models.list({ before_id: first, limit: 3 });
  for await (const page of list.iterPages()) pages.push(...page.data.map(({ id }) => id).toReversed());
  expect(pages).toEqual(before);
});

test('CAT-7 a page has the provider’s shape', async () => {
  const { read, apiKey } = await serveModels(createListModels);
  const headers = { 'x-api-key': apiKey, 'provider-version': '2023-06-01' };
  const { status, body } = await read(`/v1/models?limit=2&after_id=${ids[0]}`, headers);
  expect([status, Object.keys(body)]).toEqual([200, ['data', 'has_more', 'first_id', 'last_id']]);
  expect(body).toMatchObject({
    data: [{ id: ids[1] }, { id: ids[2] }],
    has_more: true,
    first_id: ids[1],
    last_id: ids[2],
  });
  const end = await read(`/v1/models?after_id=${ids.at(-1)}`, headers);
  expect(end.body).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
});

test.for([
  ['limit=0', 'limit'],
  ['limit=1001', 'limit'],
  ['limit=many', 'limit'],
  ['after_id=claude-fable-9', 'after_id'],
  ['before_id=gpt-4.1-mini', 'before_id'],
  [`before_id=${ids[1]}&after_id=${ids[0]}`, 'before_id'],
] as const)('CAT-7 a page of %s is 400 with param %s', async ([query, param]) => {
  const { read, apiKey } = await serveModels(createListModels);
  const { status, body } = await read(`/v1/models?${query}`, { 'x-api-key': apiKey, 'provider-version': '2023-06-01' });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request_error', param]);
  expect(body.error.message).toContain(param);
});

const entryOf = (id: string): TextModel => {
  const found = callable.find((model) => model.id === id);
  if (!found) throw new Error(`no ${id}`);
  return found;
};

test('CAT-7 the SDK gets a model with all members of its type, by its id or its alias', async () => {
  const { models } = sdkOf(await serveModels(createGetModel));
  const found = await models.retrieve('claude-haiku-5-5-thinking');
  expect(found).toEqual({
    type: 'model',
    id: 'claude-haiku-5-5',
    display_name: 'Claude Haiku 5.5',
    created_at: '2026-10-24T00:00:00Z',
    line: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    capabilities: {
      batch: { supported: false },
      citations: { supported: true },
      code_execution: { supported: false },
      context_management: {
        supported: true,
        clear_thinking_20251015: { supported: true },
        clear_tool_uses_20250919: { supported: true },
        compact_20260112: null,
      },
      effort: {
        supported: true,
        low: { supported: true },
        medium: { supported: true },
        high: { supported: true },
        xhigh: { supported: true },
        max: { supported: true },
      },
      image_input: { supported: true },
      pdf_input: { supported: true },
      server_tools: { supported: false, code_execution: { supported: false }, web_search: { supported: false } },
      structured_outputs: { supported: true },
      thinking: {
        supported: true,
        types: {
          adaptive: { supported: true },
          between_tools: { supported: false },
          disabled: { supported: true },
          enabled: { supported: false },
        },
      },
    },
  });
  for (const { id } of callable) expect((await models.retrieve(id)).id).toBe(id);
});

test('CAT-7 CAT-4 a model with a known last day shows it', () => {
  const ending = { ...entryOf('claude-haiku-4-5'), lifecycle: { shutdownDate: '2027-01-14' } };
  expect(toMessagesModel(ending)).toMatchObject({ lifecycle: 'deprecated', retires_at: '2027-01-14T00:00:00Z' });
});

test.for([
  [{}, 'anthropic-version'],
  [{ 'anthropic-version': '2024-01-01' }, 'anthropic-version'],
] as const)('AUTH-2 with the API key header of the messages format and %j a list is 400', async ([headers, param]) => {
  for (const create of [createListModels, createGetModel]) {
    const { read, apiKey } = await serveModels(create);
    const { status, body } = await read('/v1/models', { 'x-api-key': apiKey, ...headers });
    expect([status, body.error.param]).toEqual([400, param]);
  }
});

test('CAT-7 a Bearer token with an anthropic-version header returns the messages shape', async () => {
  const { read, apiKey } = await serveModels(createListModels);
  const headers = { authorization: `Bearer ${apiKey}`, 'anthropic-version': '2023-06-01' };
  expect((await read('/v1/models', headers)).body).toHaveProperty('has_more', false);
});
