import { ApiError, GoogleGenAI } from '@google/genai';
import { expect, test } from 'vitest';
import { createGetGoogleModel, createListGoogleModels } from '../../../../lambdas/protocols/models/handlers.ts';
import { catalog, NOW, serveModels } from './models-service.ts';

const ids = catalog
  .list(NOW)
  .filter(({ protocols }) => protocols.some((protocol) => protocol === 'generate_content'))
  .map(({ id }) => id);

const sdkOf = ({ apiKey, fetch }: Awaited<ReturnType<typeof serveModels>>) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: 'https://gateway.test', fetch } });

test('CAT-7 the SDK gets a model by its id', async () => {
  const { models } = sdkOf(await serveModels(createGetGoogleModel));
  expect(await models.get({ model: 'gemini-3.5-flash-lite' })).toMatchObject({
    name: 'models/gemini-3.5-flash-lite',
    version: '3.5',
    displayName: 'Gemini 3.5 Flash Lite',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedActions: ['generateContent', 'countTokens'],
    thinking: true,
  });
  for (const id of ids) expect((await models.get({ model: `models/${id}` })).name).toBe(`models/${id}`);
});

test.for(['gemini-9', 'gpt-4.1-mini', 'gpt-image-2'])('CAT-7 the SDK does not find %s', async (model) => {
  const error: unknown = await sdkOf(await serveModels(createGetGoogleModel))
    .models.get({ model })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, message: expect.stringContaining('model_not_found') });
});

test.for([
  ['pageSize=-1', 'pageSize'],
  ['pageSize=all', 'pageSize'],
  ['pageToken=%00', 'pageToken'],
  [`pageToken=${Buffer.from('gpt-4.1-mini').toString('base64url')}`, 'pageToken'],
] as const)('CAT-7 a page of %s is 400 with param %s', async ([query, param]) => {
  const { read, apiKey } = await serveModels(createListGoogleModels);
  const { status, body } = await read(`/v1beta/models?${query}`, { 'x-provider-api-key': apiKey });
  expect([status, body.error.details[0].metadata.param, body.error.status]).toEqual([400, param, 'INVALID_ARGUMENT']);
  expect(body.error.message).toContain(param);
});

test('CAT-7 a page size of 0 is the default, and the last page has no token', async () => {
  const { read, apiKey } = await serveModels(createListGoogleModels);
  const headers = { 'x-provider-api-key': apiKey };
  const { body } = await read('/v1beta/models?pageSize=0', headers);
  expect(body.models).toHaveLength(ids.length);
  expect(body).not.toHaveProperty('nextPageToken');
  const part = await read('/v1beta/models?pageSize=1', headers);
  expect(part.body.nextPageToken).toEqual(expect.any(String));
});
