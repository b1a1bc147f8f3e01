import * as z from 'zod';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { tokenCount } from '../read-json.ts';

const byModality = z.object({ text_tokens: tokenCount, image_tokens: tokenCount });

/**
 * `ImagesResponse.Usage` of the package openai 7.55.0. It has no cached tokens, though the vendor has a price for them; they are
 * looked for where its other answers have them.
 */
const imageUsage = z.object({
  input_tokens: tokenCount,
  output_tokens: tokenCount,
  input_tokens_details: byModality
    .extend({ cached_tokens: tokenCount, cached_tokens_details: byModality.nullish().catch(null) })
    .nullish()
    .catch(null),
  output_tokens_details: byModality.nullish().catch(null),
});

type Counts = z.output<typeof byModality> | null | undefined;

/** Undefined when the vendor reported none, or nothing that can be counted. */
export const toImageUsage = (reported: unknown): TokenUsage | undefined => {
  const { data } = imageUsage.safeParse(reported);
  // There is an image, so a count without any output counts nothing.
  if (!data?.output_tokens) return undefined;
  const { input_tokens_details: details, output_tokens_details: outputDetails } = data;
  const input = data.input_tokens ?? 0;
  const imageInput = imagesOf(details, input) ?? 0;
  const textInput = input - imageInput;
  const cached = cachedOf(details, textInput, imageInput);
  const output = data.output_tokens;
  // Where nothing is said, images are all that the model puts out.
  const imageOutput = imagesOf(outputDetails, output) ?? output;
  return {
    input: textInput - cached.text,
    cacheRead: cached.text,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: output - imageOutput,
    reasoning: 0,
    imageInput: imageInput - cached.image,
    cachedImageInput: cached.image,
    imageOutput,
  };
};

/** The tokens of images among all of them, never more than there are. */
const imagesOf = (counts: Counts, all: number): number | undefined => {
  if (typeof counts?.image_tokens === 'number') return Math.min(counts.image_tokens, all);
  return typeof counts?.text_tokens === 'number' ? Math.max(0, all - counts.text_tokens) : undefined;
};

type InputDetails = z.output<typeof imageUsage>['input_tokens_details'];

/** A count that is not told apart is of text first. */
const cachedOf = (
  details: InputDetails,
  text: number,
  image: number,
): { readonly text: number; readonly image: number } => {
  const split = details?.cached_tokens_details;
  const all = details?.cached_tokens ?? (split?.text_tokens ?? 0) + (split?.image_tokens ?? 0);
  const ofText = Math.min(split?.text_tokens ?? all, text);
  return { text: ofText, image: Math.min(split?.image_tokens ?? all - ofText, image) };
};
