import { expect, test } from 'vitest';
import { createListFallbacks } from '../../../../lambdas/protocols/models/handlers.ts';
import { catalog, NOW, serveModels } from './models-service.ts';

const { read } = await serveModels(createListFallbacks);
const ask = (id: string) => read(`/api/models/${id}/fallbacks`, {});

test('CAT-3 an alias resolves to the id of its model', async () => {
  const aliased = catalog.list(NOW).find(({ kind, aliases }) => kind === 'text' && aliases.length > 0);
  if (!aliased) throw new Error('no text model has an alias');
  expect((await ask(aliased.aliases[0] ?? '')).body.model).toBe(aliased.id);
});

test('CAT-3 only text models have fallback models', async () => {
  for (const kind of ['image', 'embedding', 'moderation'] as const) {
    const model = catalog.list(NOW).find((candidate) => candidate.kind === kind);
    if (!model) throw new Error(`no ${kind} model is sold`);
    expect(await ask(model.id)).toEqual({ status: 200, body: { object: 'list', model: model.id, data: [] } });
  }
});

test('CAT-3 CAT-6 an unknown model is 404 with the nearest id', async () => {
  const { status, body } = await ask('gpt-5.5x');
  expect(status).toBe(404);
  expect(body.error).toMatchObject({ code: 'model_not_found', param: 'model' });
  expect(body.error.message).toContain('gpt-5.5');
});
