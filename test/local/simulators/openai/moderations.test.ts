import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { openai } = await startSimulated();

const moderate = (input: OpenAI.ModerationCreateParams['input']) =>
  openai.moderations.create({ model: 'omni-moderation-latest', input });

const image = (url: string) => ({ type: 'image_url' as const, image_url: { url } });

test.each<[string, unknown, object]>([
  ['two images', ['a', 'b'].map((name) => image(`https://example.com/${name}.png`)), { code: 'too_many_images' }],
  ['an image out of reach', [image('https://gone.invalid/a.png')], { code: 'invalid_image_url' }],
  ['nothing', [], { param: 'input' }],
  ['an unknown part', [{ type: 'audio' }], { param: 'input' }],
])('%s is rejected', async (_, input, error) => {
  await expect(moderate(input as string)).rejects.toMatchObject({ status: 400, ...error });
});
