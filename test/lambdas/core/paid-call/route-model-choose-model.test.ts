import { expect, test } from 'vitest';
import { image, provider, text, upstream } from '../catalog/sample-data.ts';
import { createWorld, type WorldOptions } from '../text/text-world.ts';

const missing = (modelId: string): string => `The model "${modelId}" does not exist or is not enabled.`;
const list = ' GET /v1/models lists the models.';

test.for([
  ['alpha-2', ' The nearest model id is "alpha-1".'],
  ['ALPHA-1', ' The nearest model id is "alpha-1".'],
  ['alpha', list],
  ['unlike any id', list],
  ['__proto__', list],
  // Another endpoint has a model of this name.
  ['paint-2', list],
] as const)('CAT-6 %s is rejected with 404 and this advice:%s', async ([modelId, suggestion]) => {
  const world = await createWorld({ models: [text(), image()] });
  await expect(world.ask({}, { modelId })).rejects.toMatchObject({
    code: 'model_not_found',
    status: 404,
    param: 'model',
    message: `${missing(modelId)}${suggestion}`,
  });
  expect(world.log).toEqual([]);
});

test('CAT-6 an alias resolves to its catalog entry', async () => {
  const world = await createWorld({ models: [text({ aliases: ['alpha'] })] });
  expect((await world.ask({}, { modelId: 'alpha' })).model.id).toBe('alpha-1');
});

test('CAT-6 a disabled entry and one past its shutdown date are rejected with 404', async () => {
  const gone = { shutdownDate: '2026-10-31', replacement: 'alpha-2' };
  const models = [text({ lifecycle: gone }), text({ id: 'alpha-2' }), text({ id: 'alpha-3', enabled: false })];
  const world = await createWorld({ models });
  await expect(world.ask()).rejects.toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining('"alpha-2"'),
  });
  await expect(world.ask({}, { modelId: 'alpha-3' })).rejects.toMatchObject({ code: 'model_not_found' });
  expect(world.log).toEqual([]);
});

test('GEN-11 a model of another kind or protocol is rejected with 400 and its endpoint', async () => {
  const models = [text(), image(), text({ id: 'only-chat' })];
  const world = await createWorld({ models });
  await expect(world.ask({}, { modelId: 'paint-1' })).rejects.toMatchObject({
    code: 'invalid_request_error',
    status: 400,
    param: 'model',
    message: expect.stringContaining('/v1/images/generations'),
  });
  await expect(world.ask({}, { modelId: 'only-chat', protocol: 'messages' })).rejects.toMatchObject({
    status: 400,
    param: 'model',
    message: expect.stringContaining('/v1/chat/completions'),
  });
  expect(world.log).toEqual([]);
});

const unreachable: readonly (readonly [name: string, options: WorldOptions])[] = [
  ['without a URL or a provider key', { reachable: () => false }],
  ['that is disabled', { providers: [provider({ enabled: false })] }],
  ['whose wire is not supported', { wires: [] }],
];

test.for(unreachable)(
  'ERR-2 a provider %s is rejected with 503 model_unavailable, without Retry-After',
  async ([, options]) => {
    const world = await createWorld(options);
    await expect(world.ask()).rejects.toMatchObject({
      code: 'model_unavailable',
      status: 503,
      retryAfterSeconds: undefined,
    });
    expect(world.log).toEqual([]);
  },
);

const twoWays = [
  upstream({ model: 'with-tools', when: 'tools_unless_effort_none' }),
  upstream({ model: 'otherwise', when: 'otherwise' }),
];

test.for([
  [{ usesTools: true, effort: undefined }, 'with-tools'],
  [{ usesTools: true, effort: 'high' }, 'with-tools'],
  [{ usesTools: true, effort: 'none' }, 'otherwise'],
  [{ usesTools: false, effort: undefined }, 'otherwise'],
  [{ usesTools: false, effort: 'high' }, 'otherwise'],
] as const)('CHAT-5 %j goes to the upstream %s', async ([request, model]) => {
  const world = await createWorld({ models: [text({ upstreams: twoWays })] });
  await world.ask(request);
  expect(world.sent.map((call) => call.upstream.model)).toEqual([model]);
});

test('GEN-5 a disabled upstream is skipped, and only the first matching one is called', async () => {
  const upstreams = [
    upstream({ model: 'off', enabled: false }),
    upstream({ model: 'first' }),
    upstream({ model: 'second' }),
  ];
  const world = await createWorld({ models: [text({ upstreams })], play: () => Promise.reject(new Error('down')) });
  await expect(world.ask()).rejects.toThrow('down');
  expect(world.sent.map((call) => call.upstream.model)).toEqual(['first']);
});
