import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { Exchange } from '../../lambdas/http/exchange.ts';
import { createListPrices } from '../../lambdas/protocols/models/handlers.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';

export const account = {
  id: '01K9ACCOUNT',
  status: 'active',
  balance_usd: '1234.567890123',
  available_usd: '1230.067890123',
  held_usd: '4.5',
  open_holds: 2,
  days_left: 12.3 as number | null,
  threshold_usd: '2.5',
  key: {
    id: 'key-1',
    masked: 'sk-service-AbCd…wxyz',
    issued_at: '2026-11-02T09:30:00.000Z',
    revoked: false,
  } as { id: string; masked: string; issued_at: string; revoked: boolean } | null,
  top_up_url: 'https://pay.test/?account=01K9ACCOUNT' as string | null,
  top_up_text: null as string | null,
};

/** An API key of GET /app/api/keys. */
export interface ListedKey extends Record<string, unknown> {
  id: string;
  name: string;
  version: number;
}

const unrestricted = {
  object: 'api_key',
  first: false,
  created_at: '2026-11-02T09:30:00.000Z',
  last_used_at: null,
  expires_at: null,
  limit_usd: null,
  limit_period: null,
  limit_resets_at: null,
  spent_usd: '0',
  held_usd: null,
  models: null,
  requests_per_second: null,
  rights: [] as readonly string[],
};

/** Keys of GET /app/api/keys, the first key first. */
export const listedKeys: readonly ListedKey[] = [
  {
    ...unrestricted,
    id: 'key-1',
    name: 'First key',
    masked: 'sk-service-AbCd…wxyz',
    first: true,
    last_used_at: '2026-11-22T09:30:00.000Z',
    spent_usd: '3.25',
    rights: ['manage'],
    version: 0,
  },
  {
    ...unrestricted,
    id: 'key-w',
    name: 'Web site',
    masked: 'sk-service-EfGh…stuv',
    expires_at: '2027-01-31T12:00:00.000Z',
    limit_usd: '25',
    limit_period: 'month',
    limit_resets_at: '2026-12-01T00:00:00.000Z',
    spent_usd: '3.5',
    held_usd: '1.5',
    models: ['gpt-5.4-mini', 'claude-haiku-4-5'],
    requests_per_second: 2,
    version: 3,
  },
];

export const newListedKey = (fields: Record<string, unknown>): ListedKey => ({
  ...unrestricted,
  id: 'key-n',
  name: '',
  masked: 'sk-service-N3wN…3456',
  version: 4,
  ...fields,
});

/** Response of GET /app/api/usage/summary. */
export const summaryRows: readonly object[] = [
  { key_id: 'key-w', model: 'gpt-5.4-mini', other: false, requests: 2, cost_usd: '0.25' },
  { key_id: 'key-w', model: 'claude-haiku-4-5', other: false, requests: 2, cost_usd: '1.75' },
  { key_id: 'key-1', model: 'gpt-5.4', other: false, requests: 2, cost_usd: '3.25' },
  { key_id: '00ff00ff00ff00ff', model: 'gpt-5.4', other: false, requests: 1, cost_usd: '0.5' },
  { key_id: null, model: 'gpt-5.4', other: false, requests: 1, cost_usd: '0.125' },
];

const models = [
  'claude-sonnet-5',
  'gpt-5.5-pro',
  'gemini-3.8-flash',
  'seedance-2-0-fast',
  'flux-2-pro',
  'gpt-4.1-mini',
  'text-embedding-3-small',
];

const MS_PER_DAY = 86_400_000;
const lastDay = Date.parse('2026-11-22');

/** Uneven costs, the same in every run, in thousandths of a dollar. */
const costOf = (day: number, model: number): number => ((day * 7 + model * 13) % 11) * (model + 1) * ((day % 5) - 1);

const usd = (thousandths: number): string => String(thousandths / 1_000);

/** Response of GET /app/api/spend. */
export const spendOf = (days: number): object => {
  const spent = Array.from({ length: days }, (_, index) => {
    const back = days - 1 - index;
    const each = models.map((model, place) => ({ model, cost: Math.max(0, costOf(back, place)) }));
    return {
      day: new Date(lastDay - back * MS_PER_DAY).toISOString().slice(0, 10),
      each: each.filter(({ cost }) => cost),
    };
  });
  const sum = (costs: readonly number[]): string => usd(costs.reduce((all, cost) => all + cost, 0));
  return {
    object: 'spend',
    from: spent[0]?.day,
    to: spent.at(-1)?.day,
    complete: true,
    requests: days * 3,
    failed: 4,
    total_usd: sum(spent.flatMap(({ each }) => each.map(({ cost }) => cost))),
    days: spent.map(({ day, each }) => ({
      day,
      cost_usd: sum(each.map(({ cost }) => cost)),
      requests: each.length,
      failed: 0,
      models: each.map(({ model, cost }) => ({ model, cost_usd: usd(cost), requests: 1 })),
    })),
    models: models.map((model) => ({
      model,
      cost_usd: sum(spent.flatMap(({ each }) => each.filter((one) => one.model === model).map(({ cost }) => cost))),
      requests: days,
    })),
  };
};

/** Rows of GET /app/api/usage, the newest first. Every seventh has failed. */
export const usageRows = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, index) => {
    const isFailed = index % 7 === 2;
    const model = models[index % models.length];
    return {
      id: `request-${index}`,
      object: 'usage',
      created_at: new Date(lastDay - index * 3_700_000).toISOString(),
      outcome: isFailed ? 'released' : 'charged',
      reason: isFailed ? 'upstream_timeout' : null,
      model,
      usage: isFailed ? null : { cache_read: 200, input: 1_034, output: 560, reasoning: 7 },
      prices_usd: isFailed
        ? null
        : { cache_read: '0.00000025', input: '0.0000025', output: '0.00001', reasoning: '0.00001' },
      cost_usd: isFailed ? '0' : `0.${String(12_345 + index * 77).padStart(8, '0')}`,
      overage: false,
      implausible: false,
      cut_at_stop: false,
      end_user: 'user-7',
      ignored: ['logit_bias', 'seed'],
      endpoint: '/v1/chat/completions',
      key_id: 'key-w',
      provider: 'openai',
      first_byte_ms: isFailed ? null : 412,
      total_ms: 1_890,
      uncollected_usd: null,
    };
  });

/** Response of GET /api/models of the real catalog. */
export const listedModels = async (): Promise<string> => {
  const list = createListPrices({ catalog: loadCatalog(catalogData), clock: new ManualClock(lastDay) });
  const { body } = await list({} as Exchange);
  return body as string;
};
