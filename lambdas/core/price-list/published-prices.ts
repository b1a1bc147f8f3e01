import { transcriptionPrices } from '../audio/transcription-price.ts';
import type { ImageModel, Model, Protocol, TextModel, VideoModel } from '../catalog/schema.ts';
import { textModelOf } from '../catalog/text-model.ts';
import { imagePrices, megapixelPrices, pricesOf } from '../images/image-price.ts';
import { type PromptPricing, pricesAt } from '../pricing/text-price.ts';
import { priceVideo, videoPrices } from '../videos/video-price.ts';

/** Pico-USD per unit, with the names of the counts in a charge record. */
export type Prices = Readonly<Record<string, bigint>>;

/** Requests that a price applies to. An absent member does not restrict them. */
export interface PriceCondition {
  /** Tokens of the whole prompt. */
  readonly inputTokensAbove?: number;
  readonly inputTokensMax?: number;
  /** Pixels of the requested size. A named size counts as a square of its nominal edge. */
  readonly pixelsAbove?: number;
  readonly pixelsMax?: number;
  /** Name of the tier of the requested size. */
  readonly sizeTier?: string;
  readonly sizes?: readonly string[];
}

/** Price that routes charge. For one protocol, exactly one price applies to a request on a day. */
export interface PublishedPrice {
  readonly protocols: readonly Protocol[];
  /** UTC days, included. Null: without a bound. */
  readonly from: string | null;
  readonly until: string | null;
  readonly when: PriceCondition;
  readonly prices: Prices;
}

interface Dated {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

type Banded = Pick<PublishedPrice, 'when' | 'prices'>;

const always = (prices: Prices): readonly Banded[] => [{ when: {}, prices }];

const published = (
  protocols: readonly Protocol[],
  { from = undefined, until = undefined }: Dated,
  bands: readonly Banded[],
): readonly PublishedPrice[] =>
  protocols.length === 0 ? [] : bands.map((band) => ({ protocols, from: from ?? null, until: until ?? null, ...band }));

/** Returns the prices of every span of days, in the order of the catalog. They are the prices that the routes charge. */
export const publishedPrices = (model: Model): readonly PublishedPrice[] => {
  const { protocols } = model;
  switch (model.kind) {
    case 'text':
      return ofText(model);
    case 'image':
      return ofImages(model);
    case 'video':
      return model.prices.flatMap((row) => published(protocols, row, videoBands(row, model)));
    case 'transcription':
      return model.prices.flatMap((row) => published(protocols, row, always(transcriptionPrices(row))));
    case 'speech':
      return model.prices.flatMap((row) => published(protocols, row, always({ character: row.rates.input })));
    case 'embedding':
    case 'moderation':
      return model.prices.flatMap((row) => published(protocols, row, always({ input: row.rates.input })));
  }
};

/** Returns the prices that apply on a UTC day. */
export const pricesOn = (model: Model, day: string): readonly PublishedPrice[] =>
  publishedPrices(model).filter(({ from, until }) => (from ?? day) <= day && day <= (until ?? day));

/** Only messages have cache rates (BILL-12, BILL-18). */
const ofText = ({ protocols, prices }: TextModel): readonly PublishedPrice[] => {
  const plain = protocols.filter((protocol) => protocol !== 'messages');
  const native = protocols.filter((protocol) => protocol === 'messages');
  return prices.flatMap((row) => [
    ...published(plain, row, lengthBands(row, 'one-rate')),
    ...published(native, row, lengthBands(row, 'cache-rates')),
  ]);
};

const lengthBands = (row: TextModel['prices'][number], pricing: PromptPricing): readonly Banded[] => {
  const bounds = row.tiers.map(({ aboveInputTokens }) => aboveInputTokens);
  return [undefined, ...bounds].map((above, index) => {
    const max = bounds[index];
    return {
      when: {
        ...(above === undefined ? {} : { inputTokensAbove: above }),
        ...(max === undefined ? {} : { inputTokensMax: max }),
      },
      prices: pricesAt(row, above === undefined ? 0 : above + 1, pricing),
    };
  });
};

/** On chat completions and generateContent, an image model charges as a text model does (CHAT-12). */
const ofImages = (model: ImageModel): readonly PublishedPrice[] => {
  const asText = textModelOf(model);
  const own = model.protocols.filter((protocol) => protocol === 'images_generations' || protocol === 'images_edits');
  return [...model.prices.flatMap((row) => published(own, row, imageBands(row))), ...(asText ? ofText(asText) : [])];
};

const imageBands = (row: ImageModel['prices'][number]): readonly Banded[] => {
  switch (row.unit) {
    case '1M_tokens':
      return always(pricesOf(row));
    case 'megapixel':
      return always(megapixelPrices(row));
    case 'image':
      return sizeBands(row);
  }
};

const sizeBands = (row: Extract<ImageModel['prices'][number], { readonly unit: 'image' }>): readonly Banded[] => {
  const { rates, byTier, byPixels } = row;
  if (byTier)
    return Object.entries(byTier).map(([sizeTier, picos]) => ({
      when: { sizeTier },
      prices: imagePrices(row, picos),
    }));
  if (byPixels)
    return byPixels.map(({ maxPixels, perImage }, index) => {
      const above = byPixels[index - 1]?.maxPixels;
      return {
        when: {
          ...(above === undefined ? {} : { pixelsAbove: above }),
          ...(maxPixels === undefined ? {} : { pixelsMax: maxPixels }),
        },
        prices: imagePrices(row, perImage),
      };
    });
  return rates.perImage === undefined ? [] : always(imagePrices(row, rates.perImage));
};

/** Sizes with the same price share one row. */
const videoBands = (row: VideoModel['prices'][number], model: VideoModel): readonly Banded[] => {
  const priced = model.video.sizes.map((size) => {
    const [width = 0, height = 0] = size.split('x').map(Number);
    return { size, terms: priceVideo(row, model, { seconds: 1, width, height }).terms };
  });
  const groups = [...Map.groupBy(priced, ({ terms }) => terms.ratePicos).values()];
  return groups.flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const when = groups.length === 1 ? {} : { sizes: group.map(({ size }) => size) };
    return [{ when, prices: videoPrices(first.terms) }];
  });
};
