import { type GenerateContentConfig, MediaResolution, type Part } from '@google/genai';
import { expect, test } from 'vitest';
import { pdfOf } from '../pdf-samples.ts';
import { startSimulated } from '../simulated.ts';

const { google } = await startSimulated();
const model = 'gemini-3.8-flash';

const ask = (parts: Part[], config: GenerateContentConfig = {}) =>
  google.models.generateContent({ model, contents: [{ role: 'user', parts: [{ text: 'Read' }, ...parts] }], config });

const detailsOf = async (parts: Part[], config?: GenerateContentConfig) => {
  const { usageMetadata } = await ask(parts, config);
  const details = usageMetadata?.promptTokensDetails ?? [];
  return Object.fromEntries(details.map(({ modality, tokenCount }) => [modality, tokenCount]));
};

const pdf = (pages: number): Part => ({ inlineData: { mimeType: 'application/pdf', data: pdfOf(pages) } });
const file = (text: string, mimeType: string): Part => ({
  inlineData: { mimeType, data: Buffer.from(text).toString('base64') },
});

test.each([
  [{}, 560],
  [{ mediaResolution: MediaResolution.MEDIA_RESOLUTION_LOW }, 280],
  [{ mediaResolution: MediaResolution.MEDIA_RESOLUTION_HIGH }, 1_120],
])('with %j a PDF page counts %i tokens as an image', async (config, perPage) => {
  expect(await detailsOf([pdf(3)], config)).toEqual({ TEXT: 1, IMAGE: 3 * perPage });
  const { totalTokens } = await google.models.countTokens({ model, contents: [{ role: 'user', parts: [pdf(3)] }] });
  expect(totalTokens).toBe(3 * 560);
});

test('a text file counts the tokens of its text', async () => {
  expect(await detailsOf([file('word '.repeat(100), 'text/csv')])).toEqual({ TEXT: 102 });
});

test.each([
  [file('not a PDF', 'application/pdf'), 'The document has no pages.'],
  [pdf(1_001), 'The document contains 1001 pages which exceeds the supported page limit of 1000.'],
])('an invalid document is rejected: %#', async (part, message) => {
  await expect(ask([part])).rejects.toThrow(message);
});
