import { expect, test } from 'vitest';
import { holdsImage, toDrawnUsage } from '../../../../lambdas/providers/google/response.ts';

const prompt = { promptTokenCount: 10 };
const text = (tokenCount: unknown) => ({ modality: 'TEXT', tokenCount });
const image = (tokenCount: unknown) => ({ modality: 'IMAGE', tokenCount });

/** Text, image and thought tokens as they are charged. */
const charged = (reported: object, holds = true) => {
  const { output, imageOutput, reasoning } = toDrawnUsage({ ...prompt, ...reported }, holds) ?? {};
  return [output, imageOutput, reasoning];
};

test.for([
  [{ candidatesTokenCount: 1_130, candidatesTokensDetails: [text(10), image(1_120)] }, [10, 1_120, 0]],
  [{ candidatesTokenCount: 1_130, candidatesTokensDetails: [image(1_120)], thoughtsTokenCount: 7 }, [10, 1_120, 7]],
  [{ candidatesTokenCount: 2_250, candidatesTokensDetails: [image(1_120), image(1_120)] }, [10, 2_240, 0]],
  [{ candidatesTokenCount: 1_130 }, [0, 1_130, 0]],
  [{ candidatesTokenCount: 1_130, candidatesTokensDetails: null }, [0, 1_130, 0]],
  [{ candidatesTokenCount: 1_130, candidatesTokensDetails: 'x' }, [0, 1_130, 0]],
  [{ candidatesTokenCount: 1_130, candidatesTokensDetails: [text(10)] }, [10, 1_120, 0]],
  [{ candidatesTokenCount: 5, candidatesTokensDetails: [image(1_120)] }, [0, 1_120, 0]],
  [{ candidatesTokenCount: 5, candidatesTokensDetails: [image(-3), text(5)] }, [5, undefined, 0]],
] as const)('BILL-11 image tokens are separate from text tokens: %j', ([reported, expected]) => {
  expect(charged(reported)).toEqual(expected);
});

test('BILL-11 a response without an image has only text tokens', () => {
  expect(charged({ candidatesTokenCount: 40 }, false)).toEqual([40, undefined, 0]);
  expect(charged({ candidatesTokenCount: 40, candidatesTokensDetails: [text(40)] }, false)).toEqual([40, undefined, 0]);
});

test('BILL-11 images of the prompt are counted with its text', () => {
  const promptTokensDetails = [text(8), image(1_120)];
  expect(toDrawnUsage({ promptTokenCount: 1_128, promptTokensDetails }, false)).toMatchObject({ input: 1_128 });
});

test('BILL-10 an empty report is not a usage', () => {
  for (const reported of [undefined, null, {}, { candidatesTokensDetails: [image(5)] }]) {
    expect(toDrawnUsage(reported, true)).toBeUndefined();
  }
});

test('BILL-11 text about an image is not an image', () => {
  expect(holdsImage(JSON.stringify({ parts: [{ text: 'say "inlineData": now' }] }))).toBe(false);
  expect(holdsImage(JSON.stringify({ parts: [{ inlineData: { data: 'AAAA' } }] }))).toBe(true);
});
