import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { CatalogError } from '../../../../lambdas/core/catalog/load-options.ts';
import {
  anthropic,
  capabilities,
  data,
  fieldsOf,
  image,
  limits,
  load,
  price,
  problemsOf,
  provider,
  text,
  upstream,
  without,
} from './sample-data.ts';

test('CAT-5 a complete entry of each kind loads', () => {
  expect(load([text(), image()]).entries.map(({ id }) => id)).toEqual(['alpha-1', 'paint-1']);
});

test('CAT-5 an entry without a context limit fails with its id and field', () => {
  const problems = problemsOf(data([text({ limits: without(limits, 'contextTokens') })]));
  expect(problems).toEqual([{ id: 'alpha-1', field: 'limits.contextTokens', message: 'is missing (number)' }]);
});

describe('CAT-5 an incomplete entry', () => {
  const required = ['enabled', 'id', 'created', 'kind', 'ownedBy', 'company', 'protocols', 'upstreams', 'inputTypes'];
  const more = ['outputTypes', 'capabilities', 'limits', 'reasoning', 'prices', 'lifecycle', 'sources', 'verification'];
  test.each([...required, ...more])('CAT-5 an entry without %s fails at that field', (field) => {
    const id = field === 'id' ? 'openai.models[0]' : 'alpha-1';
    expect(fieldsOf(without(text(), field))).toContain(`${id}  ${field}`);
  });

  test.each(Object.keys(capabilities()))('CAT-5 an entry without the capability %s fails at that field', (name) => {
    expect(fieldsOf(text({ capabilities: without(capabilities(), name) }))).toEqual([`alpha-1  capabilities.${name}`]);
  });

  test('CAT-5 an entry without a limit or a rate fails at that field', () => {
    for (const name of ['outputTokensMax', 'outputTokensDefault'])
      expect(fieldsOf(text({ limits: without(limits, name) }))).toEqual([`alpha-1  limits.${name}`]);
    for (const name of ['input', 'output']) {
      const rates = without({ input: '8', output: '40' }, name);
      expect(fieldsOf(text({ prices: [price({ rates })] }))).toEqual([`alpha-1  prices[0].rates.${name}`]);
    }
  });

  test('CAT-5 an entry without price rows, upstreams or protocols fails at that field', () => {
    expect(fieldsOf(text({ prices: [], protocols: [] }))).toEqual(['alpha-1  protocols', 'alpha-1  prices']);
    expect(fieldsOf(text({ upstreams: [] }))).toEqual(['alpha-1  upstreams']);
  });

  test('CAT-5 an entry without a field that its kind requires fails at that field', () => {
    expect(
      fieldsOf(image({ image: { family: 'flux', nMax: 1, references: { max: 1, fields: ['a'], form: 'file' } } })),
    ).toEqual(['paint-1  image.size']);
    const speech = {
      ...without(without(text({ kind: 'speech' }), 'capabilities'), 'limits'),
      protocols: ['audio_speech'],
    };
    expect(fieldsOf(without(speech, 'reasoning'))).toContain('alpha-1  speech');
  });
});

test('CAT-5 an entry with an unknown field or kind fails at that field', () => {
  expect(fieldsOf(text({ colour: 'red' }))).toEqual(['alpha-1  colour']);
  expect(fieldsOf(text({ limits: { ...limits, contxt: 1 } }))).toEqual(['alpha-1  limits.contxt']);
  expect(fieldsOf(text({ kind: 'smell' }))).toEqual(['alpha-1  kind']);
});

test('CAT-5 one error lists all problems of all entries', () => {
  const broken = [text({ created: 'x', ownedBy: '' }), image({ enabled: 1 })];
  expect(fieldsOf(...broken)).toEqual(['alpha-1  created', 'alpha-1  ownedBy', 'paint-1  enabled']);
  expect(() => load(broken)).toThrow(CatalogError);
  expect(() => load(broken)).toThrow(/alpha-1 {2}created {2}.*\nalpha-1 {2}ownedBy {2}.*\npaint-1 {2}enabled/);
});

describe('CAT-5 upstreams', () => {
  test('CAT-5 an unknown provider fails', () => {
    const problems = problemsOf(data([text({ upstreams: [upstream({ provider: 'unknown' })] })]));
    expect(problems).toEqual([
      { id: 'alpha-1', field: 'upstreams[0].provider', message: 'unknown provider "unknown"' },
    ]);
  });

  test.each([
    ['unknown', upstream({ wire: 'telegraph' })],
    ['that its provider does not support', upstream({ wire: 'anthropic_messages' })],
    ['of another kind of model', upstream({ wire: 'openai_images' })],
  ])('CAT-5 a wire %s fails', (_, broken) => {
    expect(fieldsOf(text({ upstreams: [broken] }))).toEqual(['alpha-1  upstreams[0].wire']);
  });

  test('CAT-5 the last enabled upstream must be unconditional', () => {
    const conditional = upstream({ wire: 'openai_responses', when: 'tools_unless_effort_none' });
    expect(fieldsOf(text({ upstreams: [conditional] }))).toEqual(['alpha-1  upstreams[0].when']);
    expect(fieldsOf(text({ upstreams: [conditional, upstream({ enabled: false })] }))).toEqual([
      'alpha-1  upstreams[0].when',
    ]);
    expect(fieldsOf(text({ upstreams: [] }))).toEqual(['alpha-1  upstreams']);
    expect(load([text({ upstreams: [upstream({ enabled: false })] })]).entries).toHaveLength(1);
    expect(load([text({ upstreams: [conditional, upstream({ when: 'otherwise' })] })]).entries).toHaveLength(1);
  });

  test('CAT-5 a native protocol requires its wire', () => {
    expect(fieldsOf(text({ protocols: ['chat_completions', 'messages'] }))).toEqual(['alpha-1  protocols']);
  });

  test('CAT-5 an invalid provider is reported once, at the provider', () => {
    const problems = problemsOf(data([text()], [provider({ baseUrl: 'ftp://x' })]));
    expect(problems.map(({ id, field }) => `${id}  ${field}`)).toEqual(['openai  baseUrl']);
  });
});

test('CAT-5 input types and capabilities must agree', () => {
  expect(fieldsOf(text({ inputTypes: ['text'] }))).toEqual(['alpha-1  inputTypes']);
  expect(fieldsOf(text({ inputTypes: ['text', 'image', 'video'] }))).toEqual(['alpha-1  inputTypes']);
});

test('CAT-5 contradictory limits fail', () => {
  const wrong = (changes: object) => fieldsOf(text({ limits: { ...limits, ...changes } }));
  expect(wrong({ outputTokensDefault: 501 })).toEqual(['alpha-1  limits.outputTokensDefault']);
  expect(wrong({ outputTokensMax: 1001 })).toEqual(['alpha-1  limits.outputTokensMax']);
  expect(wrong({ inputTokensMax: 1001 })).toEqual(['alpha-1  limits.inputTokensMax']);
  expect(load([text({ limits: { ...limits, outputTokensDefault: 500, inputTokensMax: 1000 } })]).entries).toHaveLength(
    1,
  );
});

test('CAT-5 a repeated id or alias fails at its second use', () => {
  const second = text({ id: 'beta-1', aliases: ['beta-thinking', 'alpha-1'] });
  expect(fieldsOf(text(), second)).toEqual(['beta-1  aliases[1]']);
  expect(fieldsOf(text(), text())).toEqual(['alpha-1  id']);
  expect(fieldsOf(text({ aliases: ['x', 'x'] }))).toEqual(['alpha-1  aliases[1]']);
  const twice = problemsOf(data([], [provider(), provider()]));
  expect(twice.map(({ id, field }) => `${id}  ${field}`)).toEqual(['openai  id']);
});

test('CAT-4 a replacement must name another model of the catalog', () => {
  const lifecycle = (replacement: string) => ({ shutdownDate: '2027-01-01', replacement });
  expect(fieldsOf(text({ lifecycle: lifecycle('gone') }))).toEqual(['alpha-1  lifecycle.replacement']);
  expect(fieldsOf(text({ lifecycle: lifecycle('alpha-1') }))).toEqual(['alpha-1  lifecycle.replacement']);
  expect(load([text({ lifecycle: lifecycle('paint-1') }), image()]).entries).toHaveLength(2);
});

test('CAT-4 a shutdown date that is not a calendar day fails', () => {
  expect(fieldsOf(text({ lifecycle: { shutdownDate: '2026-02-29' } }))).toEqual(['alpha-1  lifecycle.shutdownDate']);
});

test('CAT-5 an entry in the file of another company fails', () => {
  expect(fieldsOf(text({ company: 'anthropic' }))).toEqual(['alpha-1  company']);
});

test('CAT-5 an OpenAI-compatible provider needs only data, and its output cap is max_tokens', () => {
  const own = provider({ id: 'own', kind: 'openai-compatible', baseUrl: null, enabled: false });
  const catalog = loadCatalog(data([text({ upstreams: [upstream({ provider: 'own' })] })], [own, provider()]));
  expect(catalog.provider('own')).toMatchObject({ outputCapField: 'max_tokens', baseUrl: null });
  expect(catalog.provider('openai')).toMatchObject({ outputCapField: 'max_completion_tokens' });
  expect(catalog.provider('unknown')).toBeUndefined();
});

test('CAT-5 an invalid provider fails with its id and field', () => {
  const fields = (changes: object) =>
    problemsOf(data([], [provider({ ...changes }), anthropic])).map(({ id, field }) => `${id}  ${field}`);
  expect(fields({ kind: 'fax' })).toEqual(['openai  kind']);
  expect(fields({ baseUrl: 'http://api.openai.com' })).toEqual(['openai  baseUrl']);
  expect(fields({ kind: 'bfl' })).toEqual(['openai  trustedPollHosts']);
  expect(fields({ credential: { variable: 'K' } })).toEqual(['openai  credential.header']);
});

test.each([undefined, null, 'x', {}, { providers: {}, companies: {} }])(
  'CAT-5 data of another shape fails: %j',
  (raw) => {
    expect(problemsOf(raw).every(({ id }) => id === 'catalog')).toBe(true);
  },
);
