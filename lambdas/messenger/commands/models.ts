import type { Model } from '../../core/catalog/schema.ts';
import { utcDay } from '../../core/clock.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { priceExamples } from '../../core/price-list/price-examples.ts';
import { pricesOn } from '../../core/price-list/published-prices.ts';
import type { BotContext, BotDependencies } from '../bot-context.ts';
import { appButton } from '../bot-context.ts';
import { type Html, html, lines } from '../html.ts';
import type { PricedUnit, Texts } from '../texts/words.ts';

/** Number of models per company and kind; the app shows the others. */
const SHOWN = 2;
/** Limit on the list in characters. A message can have 4,096, and the text after the list needs some of them. */
const CHARACTERS_MAX = 3_600;

const companyNames: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  'black-forest-labs': 'Black Forest Labs',
  bytedance: 'ByteDance',
  google: 'Google',
  openai: 'OpenAI',
};

export const createModels =
  (deps: BotDependencies) =>
  async (visit: BotContext): Promise<void> => {
    const { texts } = visit;
    const nowMs = deps.clock.now();
    const models = deps.catalog.list(nowMs);
    const priced = (model: Model): string =>
      `${model.id} ${toPrice(texts, model, deps.catalog.priceRow(model, nowMs), utcDay(nowMs))}`;
    const sections = [...Map.groupBy(models, ({ kind }) => kind)].flatMap(([kind, ofKind]) => [
      html``,
      texts.kindHeading(kind, ofKind.length),
      ...[...Map.groupBy(ofKind, ({ company }) => company)].map(([company, own]) =>
        toLine(texts, company, own.map(priced)),
      ),
    ]);
    const shown = fitting([texts.modelsHeading(models.length), ...sections]);
    await visit.tell(lines([...shown, html``, texts.modelsEnd()]), appButton(deps, texts));
  };

const toLine = (texts: Texts, company: string, models: readonly string[]): Html => {
  const more = models.length - SHOWN;
  const parts = [...models.slice(0, SHOWN), ...(more > 0 ? [texts.andMore(more)] : [])];
  return html`${companyNames[company] ?? company}: ${parts.join('; ')}`;
};

const fitting = (all: readonly Html[]): readonly Html[] => {
  let left = CHARACTERS_MAX;
  const end = all.findIndex((line) => {
    left -= line.html.length + 1;
    return left < 0;
  });
  return end < 0 ? all : all.slice(0, end);
};

/**
 * Formats the price of a model: the range of its examples, or the prices of input and output. If the price depends on
 * the request, formats the lowest.
 */
const toPrice = (texts: Texts, model: Model, row: Model['prices'][number], day: string): string => {
  const examples = priceExamples(model, row).map(({ picos }) => picos);
  const unit = exampleUnits[model.kind];
  if (unit && examples.length > 0)
    return texts.priceRange(formatUsd(leastOf(examples)), formatUsd(mostOf(examples)), unit);
  const bands = pricesOn(model, day);
  const rates = ['input', 'output'].flatMap((name) => {
    const amounts = bands.flatMap(({ prices }) => prices[name] ?? []);
    return amounts.length > 0 ? [formatUsd(leastOf(amounts) * TOKENS_SHOWN)] : [];
  });
  return texts.price(rates, bands.length > new Set(bands.map(({ protocols }) => protocols)).size);
};

/** Number of tokens of a shown price. */
const TOKENS_SHOWN = 1_000_000n;

const exampleUnits: Partial<Record<Model['kind'], PricedUnit>> = {
  image: 'image',
  video: 'clip',
  speech: 'minute',
  transcription: 'minute',
};

const leastOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((least, amount) => (amount < least ? amount : least));

const mostOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((most, amount) => (amount > most ? amount : most));
