import type { MadeImages } from '../../core/images/draw-images.ts';
import type { JsonObject } from '../../core/json.ts';
import { promptTokensOf, type TokenUsage } from '../../core/pricing/charge.ts';

/** https://platform.openai.com/docs/api-reference/images/object. `size` is what each image really has (IMG-9). */
export const toImagesAnswer = ({ images, usage }: MadeImages, nowMs: number): JsonObject => ({
  created: Math.floor(nowMs / 1_000),
  data: images.map(({ content, width, height, revisedPrompt }) => ({
    ...(content.kind === 'url' ? { url: content.url } : { b64_json: content.text }),
    size: `${width}x${height}`,
    ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
  })),
  ...(usage ? { usage: toImageUsage(usage) } : {}),
});

const toImageUsage = (usage: TokenUsage): JsonObject => {
  const { imageInput = 0, cachedImageInput = 0, imageOutput = 0, output, reasoning } = usage;
  const input = promptTokensOf(usage);
  const images = imageInput + cachedImageInput;
  return {
    input_tokens: input,
    input_tokens_details: { text_tokens: input - images, image_tokens: images },
    output_tokens: imageOutput + output + reasoning,
    output_tokens_details: { text_tokens: output + reasoning, image_tokens: imageOutput },
    total_tokens: input + imageOutput + output + reasoning,
  };
};
