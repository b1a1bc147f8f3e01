import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { allowedFallbacks, isAllowedFallback } from '../../../../lambdas/core/catalog/fallbacks.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import { anthropic, at, capabilities, data, limits, price, provider, text, upstream } from './sample-data.ts';

const NOW = at('2026-11-20');

type Changes = Readonly<Record<string, unknown>>;
type Row = readonly [what: string, candidate: Changes, primary?: Changes];

/** Returns whether a model with the changes `candidate` may be the fallback of a model with the changes `primary`. */
const allows = (candidate: Changes, primary: Changes = {}, nowMs = NOW): boolean => {
  const models = [text({ id: 'primary', ...primary }), text({ id: 'reserve', ...candidate })];
  const catalog = loadCatalog(data(models, [provider(), anthropic]));
  const [one, other] = catalog.entries.filter((model): model is TextModel => model.kind === 'text');
  if (!one || !other) throw new Error('both are text models');
  const allowed = isAllowedFallback(catalog, one, other, nowMs);
  const listed = catalog.find('primary', nowMs) ? allowedFallbacks(catalog, one, nowMs).map(({ id }) => id) : [];
  expect(listed).toEqual(allowed ? ['reserve'] : []);
  expect(isAllowedFallback(catalog, one, one, nowMs)).toBe(false);
  return allowed;
};

const native = {
  protocols: ['chat_completions', 'messages'],
  upstreams: [upstream(), upstream({ provider: 'anthropic', wire: 'anthropic_messages' })],
};
const priced = (input: string, output: string, more = {}) => ({
  prices: [price({ rates: { input, output }, ...more })],
});
const tier = (input: string, output: string) => ({ tiers: [{ aboveInputTokens: 100, rates: { input, output } }] });

test.for<Row>([
  ['an equal model', {}],
  ['a cheaper model', priced('4', '20')],
  ['a model with more endpoints', native],
  ['a model with a smaller context', { limits: { ...limits, contextTokens: 999 } }],
  ['a model with a lower output limit', { limits: { ...limits, outputTokensMax: 499 } }],
  ['a model with a lower input limit', { limits: { ...limits, inputTokensMax: 999 } }],
  ['a model with the same types in another order', { inputTypes: ['image', 'text'] }],
  ["a model that reaches the primary's prices only in its last tier", priced('4', '20', tier('8', '40'))],
])('FALL-2 a fallback may be %s', ([, candidate, primary]) => {
  expect(allows(candidate, primary)).toBe(true);
});

test.for<Row>([
  ['disabled', { enabled: false }],
  ['shut down', { lifecycle: { shutdownDate: '2026-11-20' } }],
  ['not yet sold', { prices: [price({ from: '2026-11-21' })] }],
  ['more expensive for input', priced('8.01', '40')],
  ['more expensive for output', priced('8', '40.01')],
  ['more expensive for input in a tier', priced('4', '20', tier('9', '40'))],
  ['more expensive for output in a tier', priced('4', '20', tier('4', '41'))],
  ['a model that lacks an endpoint', {}, native],
  ['a model that lacks an input type', { inputTypes: ['text'], capabilities: capabilities({ vision: false }) }],
  ['a model with more input types', {}, { inputTypes: ['text'], capabilities: capabilities({ vision: false }) }],
  ['a model that lacks a capability', { capabilities: capabilities({ jsonSchema: false }) }],
  ['a model with more capabilities', {}, { capabilities: capabilities({ tools: false }) }],
])('FALL-2 a fallback may not be %s', ([, candidate, primary]) => {
  expect(allows(candidate, primary)).toBe(false);
});

test('FALL-2 a fallback must be a model of the same company', () => {
  const models = { openai: { models: [text()] }, other: { models: [text({ id: 'reserve', company: 'other' })] } };
  const catalog = loadCatalog({ providers: { providers: [provider(), anthropic] }, companies: models });
  const [primary] = catalog.entries;
  if (primary?.kind !== 'text') throw new Error('the first entry is a text model');
  expect(catalog.list(NOW)).toHaveLength(2);
  expect(allowedFallbacks(catalog, primary, NOW)).toEqual([]);
});

test('FALL-2 fallback prices are compared for the current day', () => {
  const rows = [
    price({ until: '2026-11-19', rates: { input: '9', output: '40' } }),
    price({ from: '2026-11-20', rates: { input: '8', output: '40' } }),
  ];
  expect(allows({ prices: rows }, {}, at('2026-11-19'))).toBe(false);
  expect(allows({ prices: rows }, {}, at('2026-11-20'))).toBe(true);
});

test('FALL-2 most models on sale have a fallback, and no fallback can cost more', () => {
  const catalog = loadCatalog(catalogData);
  const models = catalog.list(NOW).filter((model) => model.kind === 'text');
  const reserves = new Map(models.map((model) => [model.id, allowedFallbacks(catalog, model, NOW)]));
  expect([...reserves.values()].filter((found) => found.length > 0).length).toBeGreaterThan(models.length / 2);
  for (const model of models) {
    const most = (sold: TextModel, rate: 'input' | 'output'): bigint => {
      const row = catalog.priceRow(sold, NOW);
      return [row, ...row.tiers].map(({ rates }) => rates[rate]).toSorted((a, b) => (a < b ? 1 : -1))[0] ?? 0n;
    };
    for (const reserve of reserves.get(model.id) ?? []) {
      expect(reserve.company).toBe(model.company);
      expect(most(reserve, 'input') <= most(model, 'input')).toBe(true);
      expect(most(reserve, 'output') <= most(model, 'output')).toBe(true);
    }
  }
});
