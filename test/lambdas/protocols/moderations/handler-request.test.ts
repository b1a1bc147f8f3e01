import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { toModerationParams } from '../../../../lambdas/protocols/moderations/handler.ts';

const model = loadCatalog(catalogData).entries.find(({ kind }) => kind === 'moderation');

const prepared = (changes: object) => {
  if (model?.kind !== 'moderation') throw new Error('no moderation model');
  const body = { model: model.id, input: 'Hello', ...changes };
  return { body, request: toModerationParams(body, model.id).validateFor(model) };
};

test.for([
  [{ input: 'Grüße' }, { bytes: 7, inputs: 1, answerBytes: 4_096 }],
  [{ input: ['a', 'bc'] }, { bytes: 3, inputs: 2, answerBytes: 8_192 }],
  [{ input: [{ type: 'text', text: 'abc' }] }, { bytes: 3, inputs: 1, answerBytes: 4_096 }],
] as const)('MOD-1 %j is measured as %j and sent unchanged', ([changes, size]) => {
  const { body, request } = prepared(changes);
  expect(request).toEqual({ body, tokens: 0, ignored: [], ...size });
});

test.for([
  [{ input: undefined }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: 5 }, 'input'],
  [{ input: [{ type: 'audio' }] }, 'input[0].type'],
  [{ input: [{ type: 'text' }] }, 'input[0].text'],
  [{ model: 5 }, 'model'],
  [{ modle: 'x' }, 'modle'],
] as const)('MOD-1 %j is rejected at %s', ([changes, param]) => {
  let thrown: unknown;
  try {
    prepared(changes);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(GatewayError);
  expect(thrown).toMatchObject({ code: 'invalid_request_error', param, message: expect.stringContaining(param) });
});
