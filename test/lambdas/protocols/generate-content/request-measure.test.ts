import { expect, test } from 'vitest';
import { promptTokensAtLeast, promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import {
  able,
  bodyOf,
  configured,
  inline,
  linked,
  png,
  prepared,
  preparedBody,
  saying,
  shipped,
  snakeBodyOf,
} from './content-requests.ts';

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

test('BILL-5 a prompt is as long as the received body, or as the sent body if names changed', () => {
  const changes = { systemInstruction: { parts: [{ text: 'Sei kurz. 😀' }] } };
  expect(prepared(changes).prompt).toMatchObject({ bytes: bytesOf(bodyOf(changes)), images: [], recordings: 0 });
  expect(preparedBody(bodyOf(changes), able, false, 5_000).prompt.bytes).toBe(5_000);
  expect(preparedBody(snakeBodyOf(changes), able, false, 5_000).prompt.bytes).toBe(bytesOf(bodyOf(changes)));
});

test('BILL-5 bytes of images and recordings are not text; recordings are counted', () => {
  const video = 'A'.repeat(4_000);
  const sound = 'B'.repeat(1_001);
  const changes = saying(
    { text: 'what?' },
    inline('image/png', png),
    inline('video/mp4', video),
    inline('audio/wav', sound),
    { functionResponse: { name: 'draw', parts: [inline('image/png', png)] } },
    linked('https://youtu.be/a'),
  );
  const { prompt } = prepared(changes);
  expect(prompt.textTokens).toBeLessThan(200);
  expect(prompt).toMatchObject({
    bytes: bytesOf(bodyOf(changes)) - 2 * png.length - video.length - sound.length,
    images: ['auto', 'auto'],
    recordings: 3,
  });
});

const utf8 = 'Ünïcode, 日本語 and 😀.\n'.repeat(50);
const asBase64 = (text: string): string => Buffer.from(text).toString('base64');

test('BILL-5 a document of plain text counts like the same text in a part', () => {
  const document = prepared(saying(inline('text/csv', asBase64(utf8)))).prompt;
  const { bytes, textTokens = 0 } = prepared(saying({ text: utf8 })).prompt;
  expect(document).toMatchObject({ images: [], recordings: 0, documents: 0 });
  expect(document.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(utf8));
  expect(document.bytes - bytes).toBeLessThan(100);
  expect(document.textTokens).toBeGreaterThanOrEqual(textTokens);
  expect((document.textTokens ?? 0) - textTokens).toBeLessThan(30);
  const inResult = saying({ functionResponse: { name: 'a', parts: [inline('text/plain', asBase64(utf8))] } });
  expect(prepared(inResult).prompt.textTokens).toBeGreaterThanOrEqual(textTokens);
});

test('BILL-5 two equal documents count twice, by their text and not by their base64', () => {
  const file = inline('text/plain', asBase64(utf8));
  const { bytes, textTokens } = prepared(saying(file, file)).prompt;
  const once = prepared(saying({ text: utf8 })).prompt;
  expect(bytes).toBeGreaterThanOrEqual(2 * Buffer.byteLength(utf8));
  expect(bytes - 2 * once.bytes).toBeLessThan(100);
  expect(textTokens).toBeGreaterThan(1.9 * (once.textTokens ?? 0));
});

test('BILL-5 the hold for a PDF document is the whole context, wherever it is', () => {
  const pdf = inline('application/PDF', asBase64('%PDF-1.7'));
  for (const changes of [saying(pdf), saying({ functionResponse: { name: 'a', parts: [pdf] } })]) {
    const request = prepared(changes);
    expect(request.prompt).toMatchObject({ documents: 1, images: [], recordings: 0 });
    expect(promptTokensAtMost(shipped(), request)).toBe(shipped().limits.contextTokens);
    expect(request.body).toEqual(bodyOf(changes));
  }
});

const numbers = `[${Array.from({ length: 50 }, () => '1e20').join(',')}]`;
const short = { a: JSON.parse(numbers) };

test.for([
  saying({ functionCall: { name: 'a', args: short } }),
  saying({ functionResponse: { name: 'a', response: short } }),
  saying({ text: 'a', partMetadata: short }),
  { tools: [{ functionDeclarations: [{ name: 'a', parametersJsonSchema: short }] }] },
  configured({ responseSchema: short }),
  configured({ responseJsonSchema: short }),
])('BILL-5 numbers that grow when serialized count as they are sent: %#', (changes) => {
  const body = bodyOf(changes);
  const came = JSON.stringify(body).replaceAll('100000000000000000000', '1e20').length;
  const { prompt } = preparedBody(body, able, false, came);
  expect(prompt.bytes).toBe(bytesOf(body));
  expect(prompt.bytes).toBeGreaterThan(came);
});

test('BILL-5 the hold for a continued response covers all earlier output', () => {
  const { contextTokens } = shipped().limits;
  const request = prepared({ continuationToken: 'b3BhcXVl' });
  expect(promptTokensAtMost(shipped(), request)).toBe(contextTokens);
  expect(request.prompt.textTokens).toBeGreaterThan(contextTokens);
  expect(promptTokensAtLeast(request.prompt)).toBeLessThan(contextTokens / 100);
});

test('BILL-6 the client’s cap is read from maxOutputTokens, in either spelling', () => {
  expect(prepared({}).outputTokensMax).toBeUndefined();
  expect(prepared(configured({ maxOutputTokens: 70_000 })).outputTokensMax).toBe(70_000);
  expect(preparedBody(snakeBodyOf(configured({ maxOutputTokens: 7 }))).outputTokensMax).toBe(7);
});

test('BILL-18 every prompt token has one rate, and the request reports its effort and tools', () => {
  const thinking = configured({ thinkingConfig: { thinkingLevel: 'LOW' } });
  expect(prepared({ ...thinking, tools: { functionDeclarations: { name: 'a' } } })).toMatchObject({
    promptPricing: 'one-rate',
    effort: 'low',
    usesTools: true,
  });
  expect(prepared({})).toMatchObject({ effort: undefined, usesTools: false });
});
