import { type GenerateContentConfig, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { measureImage } from '../../../../lambdas/protocols/image-file.ts';
import { type Simulator, startSimulator } from '../../../../lib/local/upstreams/server.ts';

const flash = 'gemini-nano-banana-2.1';
const pro = 'gemini-3-pro-image';
const lite = 'gemini-3.1-flash-lite-image';
let simulator: Simulator;
let google: GoogleGenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  google = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: simulator.url } });
});
afterEach(() => simulator.reset());
afterAll(() => simulator.stop());

const draw = (model: string, contents: string, config: GenerateContentConfig = {}) =>
  google.models.generateContent({ model, contents, config });

const partsOf = ({ candidates }: GenerateContentResponse) => candidates?.[0]?.content?.parts ?? [];

const imagesIn = (answer: GenerateContentResponse) =>
  partsOf(answer).flatMap(({ inlineData, thought }) =>
    inlineData && !thought ? [Buffer.from(inlineData.data ?? '', 'base64')] : [],
  );

function sizeOf(answer: GenerateContentResponse) {
  const [image] = imagesIn(answer);
  const { width, height } = (image && measureImage(image)) ?? {};
  return `${width}x${height}`;
}

test('answers with a short text, then an image, and tells the tokens of each', async () => {
  const answer = await draw(flash, 'A fox');
  const [said, image, ...more] = partsOf(answer);
  expect(said?.text).toContain('You wrote: A fox');
  expect([image?.inlineData?.mimeType, more]).toEqual(['image/png', []]);
  expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
  const { candidatesTokenCount = 0, candidatesTokensDetails = [] } = answer.usageMetadata!;
  const text = candidatesTokenCount - 1_120;
  expect(candidatesTokensDetails).toEqual([
    { modality: 'TEXT', tokenCount: text },
    { modality: 'IMAGE', tokenCount: 1_120 },
  ]);
  expect(text).toBeGreaterThan(0);
});

test.for([
  [flash, '1K', undefined, '1024x1024', 1_120],
  [flash, '1K', '16:9', '1376x768', 1_120],
  [flash, '2K', '16:9', '2752x1536', 1_680],
  [flash, '4K', '1:1', '4096x4096', 2_520],
  [flash, undefined, '1:8', '384x3072', 1_120],
  [pro, '2K', '21:9', '3168x1344', 1_120],
  [pro, '4K', '4:5', '3712x4608', 2_000],
  [lite, undefined, '3:4', '896x1200', 1_120],
  [lite, '1K', undefined, '1024x1024', 1_120],
] as const)('%s draws %s %s as %s for %i tokens', async ([model, imageSize, aspectRatio, size, tokens]) => {
  const imageConfig = { ...(imageSize && { imageSize }), ...(aspectRatio && { aspectRatio }) };
  const answer = await draw(model, 'A fox', { imageConfig });
  expect(sizeOf(answer)).toBe(size);
  expect(answer.usageMetadata?.candidatesTokensDetails?.at(-1)).toEqual({ modality: 'IMAGE', tokenCount: tokens });
});

test('the modalities that were named are those of the answer', async () => {
  const alone = await draw(flash, 'A fox', { responseModalities: ['IMAGE'] });
  expect([partsOf(alone).length, alone.usageMetadata?.candidatesTokenCount]).toEqual([1, 1_120]);
  const text = await draw(flash, 'A fox', { responseModalities: ['TEXT'] });
  expect([imagesIn(text), text.text]).toEqual([[], expect.stringContaining('A fox')]);
});

test('a prompt of images is counted by images, and two prompts have two pictures', async () => {
  const [image] = imagesIn(await draw(flash, 'A fox'));
  const data = image?.toString('base64') ?? '';
  const contents = [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data } }, { text: 'A cat' }] }];
  const edited = await google.models.generateContent({ model: flash, contents });
  expect(edited.usageMetadata?.promptTokensDetails).toContainEqual({ modality: 'IMAGE', tokenCount: 1_120 });
  expect(imagesIn(edited)[0]?.equals(image ?? Buffer.alloc(0))).toBe(false);
});

test('the pro model thinks, and shows its draft where thoughts are wanted', async () => {
  const answer = await draw(pro, 'A fox');
  expect(answer.usageMetadata?.thoughtsTokenCount).toBe(64);
  expect(partsOf(answer).some(({ thought }) => thought)).toBe(false);
  const told = await draw(pro, 'A fox', { thinkingConfig: { includeThoughts: true } });
  const drafts = partsOf(told).filter(({ thought, inlineData }) => thought && inlineData);
  expect([drafts.length, imagesIn(told).length]).toEqual([1, 1]);
});

test('a stream has the image in one event, and the last has the whole usage', async () => {
  const whole = await draw(pro, 'A fox');
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of await google.models.generateContentStream({ model: pro, contents: 'A fox' }))
    chunks.push(chunk);
  const withImage = chunks.filter((chunk) => imagesIn(chunk).length > 0);
  expect(withImage).toHaveLength(1);
  expect(sizeOf(withImage[0]!)).toBe('1024x1024');
  expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
  expect(chunks.at(-1)?.usageMetadata).toEqual(whole.usageMetadata);
  expect(chunks[0]?.usageMetadata?.candidatesTokensDetails).toEqual([{ modality: 'TEXT', tokenCount: 1 }]);
});

test('without room for an image there is none', async () => {
  const answer = await draw(flash, 'A fox', { maxOutputTokens: 100 });
  expect([answer.candidates?.[0]?.finishReason, imagesIn(answer)]).toEqual(['MAX_TOKENS', []]);
});

test.for([
  ['gemini-3.8-flash', { responseModalities: ['TEXT', 'IMAGE'] }],
  ['gemini-3.8-flash', { imageConfig: { aspectRatio: '1:1' } }],
  [flash, { responseModalities: ['AUDIO'] }],
  [flash, { imageConfig: { aspectRatio: '7:1' } }],
  [flash, { imageConfig: { imageSize: '8K' } }],
  [flash, { imageConfig: { imageSize: '1k' } }],
  [lite, { imageConfig: { imageSize: '2K' } }],
  [pro, { imageConfig: { aspectRatio: '1:8' } }],
] as const)('%s refuses %j', async ([model, config]) => {
  const url = `${simulator.url}/v1beta/models/${model}:generateContent?key=test`;
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'A fox' }] }], generationConfig: config });
  const answer = await fetch(url, { method: 'POST', body });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { status: 'INVALID_ARGUMENT' } }]);
});

test('a member of another vendor cloud is unknown', async () => {
  const url = `${simulator.url}/v1beta/models/${flash}:generateContent?key=test`;
  const generationConfig = { imageConfig: { outputMimeType: 'image/jpeg' } };
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'A fox' }] }], generationConfig });
  const answer = await fetch(url, { method: 'POST', body });
  expect(await answer.text()).toContain('Unknown name \\"outputMimeType\\" at \'generation_config.image_config\'');
});

test.for([
  ['[[image-fails]]', 'NO_IMAGE', 1],
  ['[[image-blocked]]', 'IMAGE_SAFETY', 0],
  ['[[content-filter-after 2]]', 'SAFETY', 1],
] as const)('%s ends with %s', async ([marker, reason, parts]) => {
  const answer = await draw(flash, `A fox ${marker}`);
  expect([answer.candidates?.[0]?.finishReason, partsOf(answer).length]).toEqual([reason, parts]);
  expect(imagesIn(answer)).toEqual([]);
  expect(JSON.stringify(answer.usageMetadata)).not.toContain('"IMAGE"');
});

test('[[image-bytes n]], [[image-empty]], [[image-html]] and [[image-broken]] stand in the place of the image', async () => {
  const [large] = imagesIn(await draw(flash, 'A fox [[image-bytes 300000]]'));
  expect(large?.length).toBe(300_000);
  expect(measureImage(large!)).toEqual({ width: 1_024, height: 1_024 });
  expect(imagesIn(await draw(flash, 'A fox [[image-empty]]'))[0]).toHaveLength(0);
  expect(imagesIn(await draw(flash, 'A fox [[image-html]]'))[0]?.toString()).toContain('<!doctype html>');
  const broken = partsOf(await draw(flash, 'A fox [[image-broken]]')).find(({ inlineData }) => inlineData);
  expect(broken?.inlineData?.data).toContain('*');
});

test('a claim about the tokens of the answer is about text and image together', async () => {
  const { usageMetadata } = await draw(pro, 'A fox [[tokens 1200]] [[reasoning 30]] [[usage-prompt 9]]');
  expect(usageMetadata).toMatchObject({
    promptTokenCount: 9,
    candidatesTokenCount: 1_170,
    thoughtsTokenCount: 30,
    candidatesTokensDetails: [
      { modality: 'TEXT', tokenCount: 50 },
      { modality: 'IMAGE', tokenCount: 1_120 },
    ],
  });
  expect((await draw(pro, 'A fox [[no-usage]]')).usageMetadata).toBeUndefined();
});
