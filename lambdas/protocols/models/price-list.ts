import { type ListedPrice, toListedPrice } from '../../core/catalog/catalog.ts';
import type { Model } from '../../core/catalog/schema.ts';
import { toWireName } from '../price-names.ts';

/** CAT-2: one model with the prices of all days. */
export const toEntry = (model: Model) => ({
  id: model.id,
  kind: model.kind,
  owned_by: model.ownedBy,
  protocols: model.protocols,
  prices: model.prices.map((row) => toPrice(toListedPrice(row))),
  limits: limitsOf(model),
  capabilities: 'capabilities' in model ? snakeCased(model.capabilities) : {},
  reasoning: { levels: model.kind === 'text' ? (model.reasoning?.levelsUi ?? []) : [] },
  lifecycle: { shutdown_date: model.lifecycle.shutdownDate, replacement: model.lifecycle.replacement ?? null },
});

const limitsOf = (model: Model): object => {
  if ('limits' in model) return snakeCased(model.limits);
  switch (model.kind) {
    case 'video': {
      const { seconds, sizes, inputReference } = model.video;
      return { seconds, sizes, input_reference: inputReference };
    }
    case 'image': {
      const { size, nMax, references, promptCharactersMax } = model.image;
      const { max, fields, form } = references;
      const shown = { size: snakeCased(size), n_max: nMax, references: { max, fields, form } };
      return { ...shown, prompt_characters_max: promptCharactersMax };
    }
    case 'speech':
      return snakeCased(model.speech);
    case 'transcription':
      return { formats: model.transcription.formats };
    default:
      return {};
  }
};

/** A row of prices with the names of the wire. */
export const toPrice = ({
  unit,
  from,
  until,
  rates,
  tiers,
  byTier,
  bySize,
  byPixels,
  imageTokensByTier,
}: ListedPrice) => ({
  unit,
  from,
  until,
  ...snakeCased(rates),
  tiers: tiers.map((tier) => ({ above_input_tokens: tier.aboveInputTokens, ...snakeCased(tier.rates) })),
  ...(byTier && { by_tier: byTier }),
  ...(bySize && { by_size: bySize }),
  ...(byPixels && {
    by_pixels: byPixels.map(({ maxPixels, perImage }) => ({ max_pixels: maxPixels, per_image: perImage })),
  }),
  ...(imageTokensByTier && { image_tokens_by_tier: imageTokensByTier }),
});

const snakeCased = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [toWireName(name), member]));
