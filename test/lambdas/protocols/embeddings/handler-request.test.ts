import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { EmbeddingModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, parseJson } from '../../../../lambdas/core/json.ts';
import { toEmbeddingParams } from '../../../../lambdas/protocols/embeddings/handler.ts';

const catalog = loadCatalog(catalogData);
const entry = (id: string): EmbeddingModel => {
  const model = catalog.entries.find((candidate) => candidate.id === id);
  if (model?.kind !== 'embedding') throw new Error(`no embedding model ${id}`);
  return model;
};

const prepared = (changes: object, id = 'text-embedding-3-small') => {
  const body = parseJson(JSON.stringify({ model: id, input: 'Hello', ...changes }));
  if (!isJsonObject(body)) throw new Error('no object');
  return { body, request: toEmbeddingParams(body).validateFor(entry(id)) };
};

const refusalOf = (changes: object, id?: string): GatewayError => {
  try {
    prepared(changes, id);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`not rejected: ${JSON.stringify(changes)}`);
};

test.for([
  [{ input: 'Grüße' }, { bytes: 7, tokens: 0, inputs: 1, answerBytes: 33_920 }],
  [{ input: [' '] }, { bytes: 1, tokens: 0, inputs: 1, answerBytes: 33_920 }],
  [{ input: ['a', 'bc'] }, { bytes: 3, tokens: 0, inputs: 2, answerBytes: 67_840 }],
  [{ input: [1, 2, 3] }, { bytes: 0, tokens: 3, inputs: 1, answerBytes: 33_920 }],
  [{ input: [[1, 2], [3]] }, { bytes: 0, tokens: 3, inputs: 2, answerBytes: 67_840 }],
  [
    { encoding_format: 'base64', dimensions: 256, user: 'u' },
    { bytes: 5, tokens: 0, inputs: 1, answerBytes: 1_494 },
  ],
] as const)('EMB-1 %j is measured as %j and sent unchanged', ([changes, size]) => {
  const { body, request } = prepared(changes);
  expect(request).toEqual({ body, ignored: [], ...size });
});

test('EMB-1 fields with null are not sent', () => {
  const { request } = prepared({ encoding_format: null, dimensions: null, user: null });
  expect(request.body).toEqual({ model: 'text-embedding-3-small', input: 'Hello' });
});

test.for([
  [{ input: undefined }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: '' }, 'input'],
  [{ input: [''] }, 'input[0]'],
  [{ input: ['a', ''] }, 'input[1]'],
  [{ input: [[]] }, 'input'],
  [{ input: ['a', 1] }, 'input'],
  [{ input: [1.5] }, 'input'],
  [{ input: [[1], 'a'] }, 'input'],
  [{ input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
  [{ encoding_format: 'int8' }, 'encoding_format'],
  [{ dimensions: 0 }, 'dimensions'],
  [{ dimensions: 1.5 }, 'dimensions'],
  [{ user: 'x'.repeat(257) }, 'user'],
  [{ stream: true }, 'stream'],
  [{ input: undefined, messages: [] }, 'messages'],
] as const)('EMB-1 %j is rejected at %s', ([changes, param]) => {
  const error = refusalOf(changes);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(param);
});

test('EMB-1 only models of the third generation accept dimensions', () => {
  expect(prepared({ dimensions: 8 }, 'text-embedding-3-large').request.body).toMatchObject({ dimensions: 8 });
  expect(refusalOf({ dimensions: 8 }, 'text-embedding-ada-002')).toMatchObject({ param: 'dimensions' });
});

test('CHAT-13 tokens beyond the context are context_length_exceeded at their input', () => {
  const many = Array.from({ length: 8_193 }, () => 1);
  expect(prepared({ input: [many.slice(1)] }).request.tokens).toBe(8_192);
  expect(refusalOf({ input: [[1], many] })).toMatchObject({ code: 'context_length_exceeded', param: 'input[1]' });
});

test('EMB-1 more numbers than one response can hold require base64', () => {
  const input = Array.from({ length: 2_048 }, () => 'a');
  expect(refusalOf({ input })).toMatchObject({ param: 'input', message: expect.stringContaining('base64') });
  expect(prepared({ input, encoding_format: 'base64' }).request.inputs).toBe(2_048);
  expect(prepared({ input, dimensions: 256 }).request.inputs).toBe(2_048);
});
