import { utcDay } from '../clock.ts';
import type { Catalog } from './catalog.ts';
import type { CatalogProblem } from './load-catalog.ts';
import type { Model } from './schema.ts';

const MS_PER_DAY = 86_400_000;
const SHUTDOWN_NOTICE_DAYS = 60;
const PRICE_NOTICE_DAYS = 30;

const lifecycleWarning = ({ id, lifecycle }: Model, today: string, horizon: string): readonly CatalogProblem[] => {
  const { shutdownDate, replacement } = lifecycle;
  if (!shutdownDate || shutdownDate > horizon) return [];
  const verb = shutdownDate <= today ? 'was shut down' : 'shuts down';
  const message = `${verb} on ${shutdownDate}, ${replacement ? `replacement ${replacement}` : 'no replacement'}`;
  return [{ id, field: 'lifecycle.shutdownDate', message }];
};

const priceWarnings = ({ id, prices }: Model, today: string, horizon: string): readonly CatalogProblem[] =>
  prices.flatMap(({ until }, index) => {
    if (!until || until < today || until > horizon) return [];
    const after =
      index + 1 < prices.length ? 'the next row holds after it' : 'no row follows: the model is not sold after it';
    return [{ id, field: `prices[${index}].until`, message: `this price ends with ${until}; ${after}` }];
  });

/** What is valid and still wants a person's eye, for enabled entries: near shutdowns, near price changes, facts without a source. */
export const catalogWarnings = (catalog: Catalog, nowMs: number): readonly CatalogProblem[] => {
  const today = utcDay(nowMs);
  const inDays = (days: number) => utcDay(nowMs + days * MS_PER_DAY);
  return catalog.entries
    .filter((model) => model.enabled)
    .flatMap((model) => [
      ...lifecycleWarning(model, today, inDays(SHUTDOWN_NOTICE_DAYS)),
      ...priceWarnings(model, today, inDays(PRICE_NOTICE_DAYS)),
      ...(model.verification === 'partly_unverified'
        ? [{ id: model.id, field: 'verification', message: 'some facts have no source' }]
        : []),
    ]);
};
