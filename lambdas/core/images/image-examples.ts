import type { ImageModel } from '../catalog/schema.ts';
import { chooseSize, largestSquare } from './choose-size.ts';
import { pricePerImage } from './image-price.ts';

type PriceRow = ImageModel['prices'][number];

type Quality = ImageModel['capabilities']['quality'][number];

interface ImageExample {
  readonly size: string | null;
  readonly quality: string | null;
  readonly picos: bigint;
}

const wish = { width: undefined, height: undefined, aspectRatio: undefined, hasReferences: false };

/**
 * Returns the prices of one image without reference images, for sizes and qualities that a request can name. Prompts are
 * not included. Without a quality, a provider chooses it; the price is then the highest.
 */
export const imageExamples = (model: ImageModel, row: PriceRow): readonly ImageExample[] => {
  const isEstimated = row.unit === '1M_tokens' && row.holdEstimatePerImage !== undefined;
  const sizes = isEstimated ? Object.keys(row.holdEstimatePerImage ?? {}) : requestedSizes(model);
  const qualities: readonly (Quality | undefined)[] = [undefined, ...(isEstimated ? model.capabilities.quality : [])];
  return sizes.flatMap((size) => {
    const chosen = chooseSize(model, { ...wish, size });
    return qualities.flatMap((quality) => {
      const picos = pricePerImage(row, chosen, quality);
      return picos === undefined ? [] : [{ size: size ?? null, quality: quality ?? null, picos }];
    });
  });
};

/** Sizes with different prices; undefined if a request cannot choose one. */
const requestedSizes = (model: ImageModel): readonly (string | undefined)[] => {
  const rule = model.image.size;
  switch (rule.mode) {
    case 'free':
      return [...new Set(['1024x1024', largestSquare(rule)])].filter((size) => size !== undefined);
    case 'enum':
      return rule.values;
    case 'enum_by_tier':
      return Object.values(rule.tiers).flatMap((sizes) => sizes?.[0] ?? []);
    case 'tiers':
      return rule.tiers;
    case 'pixels':
      return rule.tiers.length > 0 ? rule.tiers : ['2048x2048'];
    default:
      return [undefined];
  }
};
