import * as z from 'zod';
import { imageTokensMax, textLimits } from './text-entry.ts';

/** The limits and abilities of an image model at the formats for text. What is not here, it cannot do there. */
export const imageAsText = z.strictObject({
  limits: textLimits,
  streaming: z.boolean(),
  seed: z.boolean().default(false),
  sampling: z.boolean().default(false),
  imageTokensMax,
});

interface Checked {
  readonly protocols: readonly string[];
  readonly text?: unknown;
  readonly upstreams: readonly { readonly wire: string }[];
  readonly prices: readonly { readonly unit: string; readonly imageTokensByTier?: unknown }[];
}

const textProtocols = ['chat_completions', 'generate_content'];

/** Statements of an image model's entry that cannot both be true. */
export const imageDisagreements = ({ protocols, text, upstreams, prices }: Checked) => {
  const isCalledSo = protocols.some((protocol) => textProtocols.includes(protocol));
  const problem = (field: string, message: string) => [{ path: [field], message }];
  if (!isCalledSo) return text === undefined ? [] : problem('text', 'no protocol of the entry reads it');
  return [
    ...(text === undefined ? problem('text', 'is missing, and protocols has a format for text') : []),
    ...(upstreams.some(({ wire }) => wire === 'gemini_generate_content_image')
      ? []
      : problem('protocols', 'a format for text needs an upstream of wire "gemini_generate_content_image"')),
    ...(prices.every(({ unit }) => unit === '1M_tokens')
      ? []
      : problem('prices', 'a format for text needs a price by tokens')),
    ...(prices.every((row) => row.unit !== '1M_tokens' || row.imageTokensByTier !== undefined)
      ? []
      : problem('prices', 'a format for text needs imageTokensByTier: an image is held for by its tokens')),
  ];
};
