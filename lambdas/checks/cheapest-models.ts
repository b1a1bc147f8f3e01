import * as z from 'zod';
import { utcDay } from '../core/clock.ts';

const PROTOCOL = 'chat_completions';

/** Fields of `GET /api/models` (CAT-2) that the choice of a model needs. */
const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      kind: z.string(),
      owned_by: z.string(),
      prices: z.array(
        z.object({
          protocols: z.array(z.string()),
          from: z.string().nullable(),
          until: z.string().nullable(),
          prices_usd: z.record(z.string(), z.string()),
        }),
      ),
    }),
  ),
});

type Model = z.output<typeof listSchema>['data'][number];

interface PricedModel {
  readonly id: string;
  readonly company: string;
  /** USD of one input and one output token. For the order only; no amount is computed from it. */
  readonly usd: number;
}

const toPriced = ({ id, kind, owned_by: company, prices }: Model, day: string): readonly PricedModel[] => {
  if (kind !== 'text') return [];
  const row = prices.find(
    ({ protocols, from, until }) => protocols.includes(PROTOCOL) && (from ?? day) <= day && day <= (until ?? day),
  );
  const usd = Number(row?.prices_usd.input) + Number(row?.prices_usd.output);
  return Number.isNaN(usd) ? [] : [{ id, company, usd }];
};

/**
 * Returns the id of the cheapest text model of each company for chat completions, the cheapest first. `list` is the body
 * of `GET /api/models`. An unreadable body has no models.
 */
export const cheapestModels = (list: unknown, nowMs: number): readonly string[] => {
  const { data = [] } = listSchema.safeParse(list).data ?? {};
  const models = data.flatMap((model) => toPriced(model, utcDay(nowMs))).toSorted((one, other) => one.usd - other.usd);
  const firsts = [...Map.groupBy(models, ({ company }) => company).values()].flatMap(([first]) => first ?? []);
  return firsts.map(({ id }) => id);
};
