import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { CatalogError, type CatalogProblem, type LoadOptions } from '../../../../lambdas/core/catalog/load-options.ts';

type Json = Readonly<Record<string, unknown>>;

export const at = (day: string): number => Date.parse(`${day}T12:00:00Z`);

export const provider = (changes: Json = {}): Json => ({
  id: 'openai',
  name: 'OpenAI',
  kind: 'openai',
  enabled: true,
  baseUrl: 'https://api.openai.com/v1',
  baseUrlVariable: 'OPENAI_BASE_URL',
  credential: { variable: 'OPENAI_API_KEY', header: 'Authorization', scheme: 'Bearer' },
  ...changes,
});

export const anthropic = provider({ id: 'anthropic', kind: 'anthropic', baseUrl: 'https://api.anthropic.com' });

export const upstream = (changes: Json = {}): Json => ({
  provider: 'openai',
  model: 'm',
  wire: 'openai_chat',
  ...changes,
});

export const capabilities = (changes: Json = {}): Json => ({
  tools: true,
  parallelTools: true,
  forcedToolChoice: true,
  vision: true,
  videoInput: false,
  jsonObject: true,
  jsonSchema: true,
  streaming: true,
  seed: false,
  multipleChoices: false,
  sampling: false,
  penalties: false,
  stop: false,
  logprobs: false,
  promptCache: 'implicit',
  ...changes,
});

export const limits = { contextTokens: 1000, outputTokensMax: 500, outputTokensDefault: 100 };

export const price = (changes: Json = {}): Json => ({
  unit: '1M_tokens',
  rates: { input: '8', output: '40' },
  ...changes,
});

const base = (id: string): Json => ({
  enabled: true,
  id,
  created: 1_790_000_000,
  ownedBy: 'openai',
  company: 'openai',
  upstreams: [upstream()],
  inputTypes: ['text', 'image'],
  outputTypes: ['text'],
  lifecycle: { shutdownDate: null },
  sources: [{ fact: 'prices', url: 'https://example.com', asOf: '2026-11', level: 'official' }],
  verification: 'official_page_or_sdk',
});

export const text = (changes: Json = {}): Json => ({
  ...base('alpha-1'),
  kind: 'text',
  protocols: ['chat_completions'],
  capabilities: capabilities(),
  limits,
  reasoning: null,
  prices: [price()],
  ...changes,
});

export const image = (changes: Json = {}): Json => ({
  ...base('paint-1'),
  kind: 'image',
  protocols: ['images_generations'],
  upstreams: [upstream({ wire: 'openai_images' })],
  outputTypes: ['image'],
  capabilities: { quality: [], mask: false, aspectRatio: false, widthHeight: false },
  image: {
    family: 'seedream',
    size: { mode: 'pixels', minPixels: 100 },
    nMax: 1,
    references: { max: 3, fields: ['image'], form: 'public_url' },
  },
  prices: [{ unit: 'image', rates: { perImage: '0.03' } }],
  ...changes,
});

export const without = (entry: Json, field: string): Json =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== field));

export const data = (models: readonly unknown[], providers: readonly unknown[] = [provider(), anthropic]): unknown => ({
  providers: { providers },
  companies: { openai: { models } },
});

export const load = (models: readonly unknown[], options: LoadOptions = {}) => loadCatalog(data(models), options);

/** Returns the problems that loading reports. Throws if loading reports none. */
export const problemsOf = (raw: unknown, options: LoadOptions = {}): readonly CatalogProblem[] => {
  try {
    loadCatalog(raw, options);
  } catch (error) {
    if (error instanceof CatalogError) return error.problems;
    throw error;
  }
  throw new Error('expected a CatalogError');
};

/** Returns `id  field` for every problem of these entries. */
export const fieldsOf = (...models: readonly unknown[]): readonly string[] =>
  problemsOf(data(models)).map(({ id, field }) => `${id}  ${field}`);
