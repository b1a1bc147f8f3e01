import type { ClaimedUsage } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import type { Dimensions } from './images-files.ts';
import type { ImagesRequest } from './images-request.ts';
import type { Quality } from './images-traits.ts';

/**
 * Output tokens of an image of 1024x1024: the provider's price list divided by 30 USD per million. Above `high` it is a
 * guess. `auto` is `high`.
 */
const outputTokens: Readonly<Record<Quality, number>> = {
  low: 200,
  medium: 1_767,
  high: 7_034,
  xhigh: 14_068,
  max: 21_102,
  auto: 7_034,
};

const tile = { edge: 512, tokens: 129 };
const imageTokens = { base: 65, max: 6_240 };

/** Depends on the area; not the provider's real count. */
export function imageTokensOf({ width, height }: Dimensions): number {
  const tiles = Math.ceil(width / tile.edge) * Math.ceil(height / tile.edge);
  return Math.min(imageTokens.base + tiles * tile.tokens, imageTokens.max);
}

/**
 * Contains cached tokens, which the provider does not document, only if the scenario sets them; they count as text
 * tokens first.
 */
export function usageOf({ prompt, images, n, quality, width, height }: ImagesRequest, claimed: ClaimedUsage = {}) {
  const fromImages = images.reduce((sum, image) => sum + imageTokensOf(image), 0);
  const input = claimed.input ?? countTokens(prompt) + fromImages;
  const ofImages = Math.min(fromImages, input);
  const each = Math.ceil((outputTokens[quality] * width * height) / (1024 * 1024));
  const output = claimed.output ?? each * n;
  return {
    input_tokens: input,
    input_tokens_details: {
      image_tokens: ofImages,
      text_tokens: input - ofImages,
      ...(claimed.cached !== undefined && { cached_tokens: claimed.cached }),
    },
    output_tokens: output,
    output_tokens_details: { image_tokens: output, text_tokens: 0 },
    total_tokens: input + output,
  };
}
