import { type ListedPrice, toListedPrice } from '../../core/catalog/catalog.ts';
import type { Model } from '../../core/catalog/schema.ts';
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
      `${model.id} ${toPrice(texts, toListedPrice(deps.catalog.priceRow(model, nowMs)))}`;
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
 * Formats the listed price of a model: the prices of input and output if it has both, otherwise its main price. If the
 * price depends on the request, formats the lowest.
 */
const toPrice = (texts: Texts, { unit, rates, tiers, byTier, bySize, byPixels }: ListedPrice): string => {
  const choice =
    byTier ?? bySize ?? (byPixels && Object.fromEntries(byPixels.map((band, index) => [index, band.perImage])));
  if (choice) return texts.price([leastOf(Object.values(choice))], pricedUnits[unit], true);
  const { input, output } = rates;
  const both = input !== undefined && output !== undefined;
  const amounts = both ? [input, output] : mainRates.flatMap((name) => rates[name] ?? []).slice(0, 1);
  return texts.price(amounts, pricedUnits[unit], tiers.length > 0);
};

const mainRates = [
  'imageOutput',
  'firstMegapixel',
  'perImage',
  'perSecond',
  'perMinute',
  'audioInput',
  'output',
  'input',
] as const;

const pricedUnits: Readonly<Record<ListedPrice['unit'], PricedUnit>> = {
  '1M_tokens': 'tokens',
  '1M_characters': 'characters',
  image: 'image',
  megapixel: 'megapixel',
  second: 'second',
  audio_minute: 'audio_minute',
};

const leastOf = (amounts: readonly string[]): string =>
  amounts.toSorted((one, other) => Number(one) - Number(other))[0] ?? '0';
