import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { openai } = await startSimulated();

type Params = Partial<OpenAI.EmbeddingCreateParams>;

const embed = (input: Params['input'], more: Params = {}) =>
  openai.embeddings.create({ model: 'text-embedding-3-small', input: input!, encoding_format: 'float', ...more });

const invalid = { status: 400, message: expect.stringContaining("'$.input' is invalid."), param: null };

test.each<[string, unknown, object]>([
  ['an empty string', '', invalid],
  ['an empty list', [], invalid],
  ['an empty string among others', ['a', ''], invalid],
  ['an empty list of tokens', [[1], []], invalid],
  ['a mixed list', ['a', [1]], invalid],
  ['2049 inputs', Array.from({ length: 2049 }, () => 'a'), invalid],
  ['8193 tokens in one of them', ['a', 'b '.repeat(8193)], { status: 400, message: expect.stringContaining('8192') }],
  [
    'more than 300000 tokens together',
    Array.from({ length: 40 }, () => Array.from({ length: 8000 }, () => 1)),
    { status: 400, code: 'max_tokens_per_request' },
  ],
])('%s is rejected', async (_, input, error) => {
  await expect(embed(input as string)).rejects.toMatchObject(error);
});

test.each<[Params, object]>([
  [
    { model: 'text-embedding-ada-002', dimensions: 256 },
    { status: 400, message: expect.stringContaining('dimensions') },
  ],
  [{ dimensions: 1537 }, { status: 400, param: 'dimensions' }],
  [{ model: 'text-embedding-4' }, { status: 404, code: 'model_not_found' }],
])('%j is rejected', async (params, error) => {
  await expect(embed('Hello', params)).rejects.toMatchObject(error);
});
